import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../accounts/index.ts';
import type { Actor } from '../audit/index.ts';
import type { JsonObject } from '../json.ts';
import { parseWith } from '../parse.ts';
import { admit } from './admit.ts';
import { isForm, readJson, readText } from './body.ts';
import { bytesMaxOf, type Contract, tooLargeCode } from './contract.ts';
import type { HttpParts } from './parts.ts';
import { Turns } from './turns.ts';

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
  /** Only on routes of access `caller`. */
  readonly caller: Caller;
  /** Only on routes of access `operator`: who is to be named in the audit. */
  readonly actor: Actor;
}

/** Generated clients send `{}` where nothing is asked for; it is read and not looked at. */
const UNWANTED_BODY_BYTES_MAX = 64 * 1024;

const NO_QUERY = z.object({});

/** Bodies above this are parsed in turn. */
const LARGE_BODY_BYTES = 1024 * 1024;

/** The routes of one server and the contracts they were made from. */
export class Routes {
  readonly contracts: Contract[] = [];
  readonly #server: FastifyInstance;
  readonly #parts: HttpParts;
  readonly #turns = new Turns();

  constructor(server: FastifyInstance, parts: HttpParts) {
    this.#server = server;
    this.#parts = parts;
  }

  add<const C extends Contract>(contract: C, run: (call: RouteCall<QueryOf<C>, BodyOf<C>>) => unknown): void {
    this.contracts.push(contract);
    const url = contract.url ?? contract.path.replace(/\{\w+\*\}$/, '*').replace(/\{(\w+)\}/g, ':$1');
    // The rest of a path is something: without it there is no such route.
    if (contract.path.endsWith('*}')) this.#server.get(url.slice(0, -1), (_request, reply) => reply.callNotFound());
    const known =
      contract.access === 'operator' ? { ...contract, query: (contract.query ?? NO_QUERY).strict() } : contract;
    // Bytes are only passed on, and forms are read as they come.
    const parsesHere = contract.body?.kind !== 'bytes';
    this.#server.route({
      method: contract.head === true ? [contract.method, 'HEAD'] : contract.method,
      url,
      bodyLimit: contract.body === undefined ? UNWANTED_BODY_BYTES_MAX : bytesMaxOf(contract.body, false),
      config: { tooLarge: tooLargeCode(contract) },
      onRequest: admit(this.#parts, contract),
      handler: (request, reply) => {
        const answer = () => this.#answer(known, run, request, reply);
        return parsesHere && isLarge(request.body) ? this.#turns.next().then(answer) : answer();
      },
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
    const parsed = bodyOf(contract, request);
    return run({
      request,
      reply,
      query: query as QueryOf<C>,
      body: parsed.value as BodyOf<C>,
      exact: parsed.exact,
      param: (name) => paramOf(contract, request, name),
      caller: request.caller,
      actor: { name: 'operator', requestId: request.id },
    });
  }
}

function isLarge(body: unknown): boolean {
  return Buffer.isBuffer(body) && body.length > LARGE_BODY_BYTES;
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

function bodyOf({ body }: Contract, request: FastifyRequest): ReadBody {
  switch (body?.kind) {
    case undefined:
      return { value: undefined, exact: noJson };
    case 'text':
      return { value: readText(request, body.contentTypes), exact: noJson };
    case 'bytes':
      return { value: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0), exact: noJson };
    case 'form':
      return { value: undefined, exact: noJson };
    case 'json or form':
      if (isForm(request)) return { value: FORM_TO_READ, exact: noJson };
      return jsonBody(body.schema, request);
    case 'json':
      return jsonBody(body.schema, request);
  }
}

function jsonBody(schema: z.ZodType, request: FastifyRequest): ReadBody {
  const parsed = readJson(request);
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
