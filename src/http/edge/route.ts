import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../../accounts/index.ts';
import type { Actor } from '../../audit/index.ts';
import type { JsonObject, ParsedJson } from '../../json.ts';
import { parseWith } from '../../parse.ts';
import type { sessions } from '../../people/index.ts';
import { bytesMaxOf, type Contract, consoleContract, tooLargeCode } from '../contract/contract.ts';
import type { HttpDeps } from '../deps.ts';
import { authorize } from './authorize.ts';
import { bytesOf, isForm, readJson, readText } from './body.ts';
import { LargeBodies } from './large-bodies.ts';

/** What a route's function is given: everything checked and typed. */
export interface RouteCall<Query, Body> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: Query;
  readonly body: Body;
  /** A JSON body with every number as it was written, for forwarding. */
  readonly exact: () => JsonObject;
  /** The path's `{name}` as sent, decoded. */
  readonly param: (name: string) => string;
  /** Only on routes of access `caller` and `playground`. */
  readonly caller: Caller;
  /** Whose the request is. Not on routes for the public, for operators, or of access `session` without a role. */
  readonly accountId: string;
  /** Only on routes of access `session` and `playground`. */
  readonly signedIn: sessions.SignedIn;
  /** Only on routes of access `operator` and `session`: who is to be named in the audit. */
  readonly actor: Actor;
}

/** Generated clients send `{}` where nothing is asked for; it is read and not looked at. */
const UNWANTED_BODY_BYTES_MAX = 64 * 1024;

const NO_QUERY = z.object({});

/** The routes of one server and the contracts they were made from. */
export class Routes {
  readonly contracts: Contract[] = [];
  readonly largeBodies = new LargeBodies();
  readonly #server: FastifyInstance;
  readonly #deps: HttpDeps;

  constructor(server: FastifyInstance, deps: HttpDeps) {
    this.#server = server;
    this.#deps = deps;
  }

  add<const C extends Contract>(contract: C, run: (call: RouteCall<QueryOf<C>, BodyOf<C>>) => unknown): void {
    this.#register(contract, run);
    const forConsole = consoleContract(contract);
    if (forConsole !== undefined) this.#register(forConsole, run);
  }

  #register<C extends Contract>(contract: Contract, run: (call: RouteCall<QueryOf<C>, BodyOf<C>>) => unknown): void {
    this.contracts.push(contract);
    const url = contract.url ?? contract.path.replace(/\{\w+\*\}$/, '*').replace(/\{(\w+)\}/g, ':$1');
    // The rest of a path is something: without it there is no such route.
    if (contract.path.endsWith('*}')) this.#server.get(url.slice(0, -1), (_request, reply) => reply.callNotFound());
    const known =
      contract.access === 'operator' ? { ...contract, query: (contract.query ?? NO_QUERY).strict() } : contract;
    this.#server.route({
      method: contract.head === true ? [contract.method, 'HEAD'] : contract.method,
      url,
      bodyLimit: contract.body === undefined ? UNWANTED_BODY_BYTES_MAX : bytesMaxOf(contract.body, false),
      config: { tooLarge: tooLargeCode(contract) },
      onRequest: authorize(this.#deps, contract),
      handler: (request, reply) => this.#answer(known, run, request, reply),
    });
  }

  #answer<C extends Contract>(
    contract: Contract,
    run: (call: RouteCall<QueryOf<C>, BodyOf<C>>) => unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): unknown {
    if (contract.anyOrigin === true) reply.header('access-control-allow-origin', '*');
    const query = contract.query === undefined ? {} : parseWith(contract.query, request.query);
    const act = (body: ReadBody) =>
      run({
        request,
        reply,
        query: query as QueryOf<C>,
        body: body.value as BodyOf<C>,
        exact: body.exact,
        param: (name) => paramOf(contract, request, name),
        caller: request.caller,
        accountId: accountOf(request),
        signedIn: request.signedIn as sessions.SignedIn,
        actor: { name: request.signedIn?.person.email ?? 'operator', requestId: request.id },
      });
    const body = bodyOf(contract, request, this.largeBodies);
    return body instanceof Promise ? body.then(act) : act(body);
  }
}

/** Empty where no account is known, which is no account's id. */
function accountOf({ caller, signedIn }: FastifyRequest): string {
  return (caller as Caller | undefined)?.accountId ?? signedIn?.membership?.accountId ?? '';
}

type QueryOf<C extends Contract> = C extends { query: infer Q extends z.ZodType } ? z.output<Q> : object;
type BodyOf<C extends Contract> = C extends { body: { kind: 'json'; schema: infer S extends z.ZodType } }
  ? z.output<S>
  : C extends { body: { kind: 'json or form'; schema: infer S extends z.ZodType } }
    ? z.output<S> | typeof FORM_TO_READ
    : C extends { body: { kind: 'text' } }
      ? string
      : C extends { body: { kind: 'bytes' } }
        ? Buffer
        : undefined;

/** In the place of a body that is a form: the route reads it itself, with `readForm`. */
export const FORM_TO_READ = Symbol('a form');

interface ReadBody {
  readonly value: unknown;
  readonly exact: () => JsonObject;
}

function bodyOf({ body }: Contract, request: FastifyRequest, largeBodies: LargeBodies): ReadBody | Promise<ReadBody> {
  switch (body?.kind) {
    case undefined:
    case 'form':
      return { value: undefined, exact: noJson };
    case 'text':
      return { value: readText(request, body.contentTypes), exact: noJson };
    case 'bytes':
      return { value: bytesOf(request), exact: noJson };
    case 'json or form':
      if (isForm(request)) return { value: FORM_TO_READ, exact: noJson };
      return jsonBody(body.schema, request, largeBodies);
    case 'json':
      return jsonBody(body.schema, request, largeBodies);
  }
}

function jsonBody(schema: z.ZodType, request: FastifyRequest, largeBodies: LargeBodies): ReadBody | Promise<ReadBody> {
  const read = readJson(request, largeBodies);
  return read instanceof Promise ? read.then((parsed) => checked(schema, parsed)) : checked(schema, read);
}

function checked(schema: z.ZodType, parsed: ParsedJson): ReadBody {
  return { value: parseWith(schema, parsed.value), exact: () => parsed.exact() as JsonObject };
}

function noJson(): never {
  throw new Error('this route takes no JSON');
}

function paramOf(contract: Contract, request: FastifyRequest, name: string): string {
  const params = request.params as Record<string, string | undefined>;
  const given = params[contract.path.endsWith(`{${name}*}`) ? '*' : name] ?? '';
  // PostgreSQL keeps no NUL: what has one in its name is not there, like what has no name at all.
  return given.includes('\0') ? '' : given;
}

/** The wire shape of every list that pages. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() });
}

/** Asks for one row more than wanted, to know whether there are more. */
export async function page<Row, View>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
  view: (row: Row) => View,
): Promise<{ object: 'list'; data: View[]; has_more: boolean }> {
  const rows = await read(limit + 1);
  return { object: 'list', data: rows.slice(0, limit).map(view), has_more: rows.length > limit };
}
