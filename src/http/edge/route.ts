import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../../accounts/index.ts';
import type { Actor } from '../../audit/index.ts';
import type { JsonObject } from '../../json.ts';
import { parseWith } from '../../parse.ts';
import type { sessions } from '../../people/index.ts';
import { newTrace } from '../../request-log/index.ts';
import type { NativeTokens } from '../../schemas/index.ts';
import { bytesMaxOf, type Contract, consoleContract, tooLargeCode } from '../contract/contract.ts';
import { facadeContract } from '../contract/facade.ts';
import type { HttpDeps } from '../deps.ts';
import { authorize } from './authorize.ts';
import { bytesOf, isForm, readText, requireJsonType } from './body.ts';
import { JsonBodies, type JsonBody } from './json-bodies.ts';
import { modelOfJson, traceModel } from './request-line.ts';

/** What a route's function is given: everything checked and typed. */
export interface RouteCall<Query, Body> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: Query;
  readonly body: Body;
  /** A JSON body with every number as it was written, for forwarding. */
  readonly exact: () => JsonObject;
  /** The body as it came, where the contract keeps it. */
  readonly bytes: Buffer;
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

const NO_BYTES = Buffer.alloc(0);
const NO_QUERY = z.object({});

/** The routes of one server and the contracts they were made from. */
export class Routes {
  readonly contracts: Contract[] = [];
  readonly #jsonBodies = new JsonBodies();
  readonly #server: FastifyInstance;
  readonly #deps: HttpDeps;

  constructor(server: FastifyInstance, deps: HttpDeps) {
    this.#server = server;
    this.#deps = deps;
  }

  add<const C extends Contract>(contract: C, run: (call: RouteCall<QueryOf<C>, BodyOf<C>>) => unknown): void {
    this.#register(contract, run);
    for (const same of [consoleContract(contract), facadeContract(contract)]) {
      if (same !== undefined) this.#register(same, run);
    }
  }

  #register<C extends Contract>(contract: Contract, run: (call: RouteCall<QueryOf<C>, BodyOf<C>>) => unknown): void {
    this.contracts.push(contract);
    const url = contract.url?.pattern ?? contract.path.replace(/\{\w+\*\}$/, '*').replace(/\{(\w+)\}/g, ':$1');
    // The rest of a path is something: without it there is no such route.
    if (contract.path.endsWith('*}')) this.#server.get(url.slice(0, -1), (_request, reply) => reply.callNotFound());
    const known =
      contract.access === 'operator' ? { ...contract, query: (contract.query ?? NO_QUERY).strict() } : contract;
    this.#server.route({
      method: contract.head === true ? [contract.method, 'HEAD'] : contract.method,
      url,
      bodyLimit: contract.body === undefined ? UNWANTED_BODY_BYTES_MAX : bytesMaxOf(contract.body, false),
      config: {
        tooLarge: tooLargeCode(contract),
        ...(contract.logged && { logged: contract.logged }),
        ...(contract.errors && { errors: contract.errors }),
      },
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
    if (contract.logged !== undefined) request.trace = newTrace(request.span);
    contract.url?.check(request.raw.url ?? '');
    if (contract.anyOrigin === true) reply.header('access-control-allow-origin', '*');
    const query = contract.query === undefined ? {} : parseWith(contract.query, request.query);
    const act = (json: JsonBody | undefined) => {
      traceModel(request, modelOfJson(json?.value));
      return run({
        request,
        reply,
        query: query as QueryOf<C>,
        body: bodyOf(contract, request, json) as BodyOf<C>,
        exact: () => (json ?? noJson()).exact() as JsonObject,
        bytes: json?.bytes ?? NO_BYTES,
        param: (name) => paramOf(contract, request, name),
        caller: request.caller,
        accountId: accountOf(request),
        signedIn: request.signedIn as sessions.SignedIn,
        actor: { name: request.signedIn?.person.email ?? 'operator', requestId: request.id },
      });
    };
    const json = this.#jsonOf(contract, request);
    return json instanceof Promise ? json.then(act) : act(json);
  }

  /** Undefined where the contract takes something else, or the request is a form. */
  #jsonOf({ body }: Contract, request: FastifyRequest): JsonBody | Promise<JsonBody> | undefined {
    if (body?.kind === 'native') return this.#jsonBodies.read('native', bytesOf(request), { isKept: true });
    if (body?.kind !== 'json' && (body?.kind !== 'json or form' || isForm(request))) return undefined;
    requireJsonType(request);
    const { keepsBytes = false, valuesMax } = body.kind === 'json' ? body : {};
    return this.#jsonBodies.read('json', bytesOf(request), { isKept: keepsBytes, valuesMax });
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
      : C extends { body: { kind: 'native' } }
        ? NativeBody
        : undefined;

/** In the place of a body that is a form: the route reads it itself, with `readForm`. */
export const FORM_TO_READ = Symbol('a form');

/** A body that is passed on as it is, and what of it decides the price. */
interface NativeBody {
  readonly bytes: Buffer;
  readonly tokens: NativeTokens;
}

function bodyOf({ body }: Contract, request: FastifyRequest, json: JsonBody | undefined): unknown {
  switch (body?.kind) {
    case undefined:
    case 'form':
      return undefined;
    case 'text':
      return readText(request, body.contentTypes);
    case 'native':
      return { bytes: json?.bytes, tokens: json?.value };
    case 'json or form':
    case 'json':
      return json === undefined ? FORM_TO_READ : parseWith(body.schema, json.value);
  }
}

function noJson(): never {
  throw new Error('this route takes no JSON');
}

function paramOf(contract: Contract, request: FastifyRequest, name: string): string {
  const params = request.params as Record<string, string | undefined>;
  const value = params[contract.path.endsWith(`{${name}*}`) ? '*' : name] ?? '';
  // PostgreSQL keeps no NUL: what has one in its name is not there, like what has no name at all.
  return value.includes('\0') ? '' : value;
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
