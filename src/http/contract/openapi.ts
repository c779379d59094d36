import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type ErrorCode, errorStatus } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { OAUTH_PATHS } from '../../oauth/index.ts';
import { SCOPE_WORDS } from '../../scopes.ts';
import { errorSchema } from '../views/error.ts';
import type { Access, Contract, RouteBody } from './contract.ts';
import { TAG_LIST, tagOf } from './tags.ts';

/**
 * The OpenAPI 3.1 document of the given routes: what they take and answer, and every code they can refuse with. All of it
 * takes half a second, so other requests have a turn after each route.
 */
export async function openApiDocument(
  contracts: readonly Contract[],
  version: string,
  serverUrl: string,
): Promise<JsonObject> {
  const components: Record<string, JsonValue> = {};
  const toSchema = schemaWriter(components);
  const paths: Record<string, Record<string, JsonValue>> = {};
  for (const contract of contracts) {
    const path = contract.path.replace('*}', '}');
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: operation(contract, toSchema) };
    await setImmediate();
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tollgate', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: serverUrl }],
    tags: TAG_LIST,
    paths,
    components: { schemas: components, securitySchemes: securitySchemes(serverUrl) },
  };
}

function securitySchemes(serverUrl: string): JsonObject {
  const [authorizationUrl, tokenUrl] = [serverUrl + OAUTH_PATHS.authorize, serverUrl + OAUTH_PATHS.token];
  const authorizationCode = { authorizationUrl, tokenUrl, refreshUrl: tokenUrl, scopes: SCOPE_WORDS };
  return {
    key: { type: 'http', scheme: 'bearer', description: 'An API key.' },
    oauth: { type: 'oauth2', description: 'The access token of an app.', flows: { authorizationCode } },
    operator: { type: 'http', scheme: 'bearer', description: 'An admin token.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'tollgate_session',
      description:
        'A signed-in person, with X-CSRF-Token where something changes. Its name begins with __Host- behind https.',
    },
  };
}

function securityOf({ access, scope }: Contract): JsonValue {
  switch (access) {
    case 'public':
      return [];
    case 'caller':
      return scope === 'none' ? [{ key: [] }] : [{ key: [] }, { oauth: scope === 'any' ? [] : [scope] }];
    case 'session':
    case 'playground':
      return [{ session: [] }];
    case 'operator':
      return [{ operator: [] }, { session: [] }];
  }
}

type SchemaWriter = (schema: z.ZodType, io: 'input' | 'output') => JsonValue;

/** Named schemas go to the components once; the others stay where they are used. */
function schemaWriter(components: Record<string, JsonValue>): SchemaWriter {
  return (schema, io) => {
    const { $schema: _, $defs = {}, ...written } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    const move = (value: unknown): JsonValue =>
      JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
    for (const [name, definition] of Object.entries($defs)) components[name] = move(definition);
    return move(written);
  };
}

function operation(contract: Contract, toSchema: SchemaWriter): JsonValue {
  return {
    summary: contract.summary,
    tags: [tagOf(contract)],
    operationId: operationId(contract),
    security: securityOf(contract),
    parameters: [...pathParameters(contract), ...queryParameters(contract, toSchema)],
    ...requestBody(contract, toSchema),
    responses: { ...answers(contract, toSchema), ...refusals(contract, toSchema) },
  };
}

function operationId({ method, path }: Contract): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return [method.toLowerCase(), ...words].join('_');
}

function pathParameters({ path }: Contract): JsonValue[] {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Contract, toSchema: SchemaWriter): JsonValue[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape).map(([name, field]) => ({
    name,
    in: 'query',
    required: false,
    schema: toSchema(field, 'input'),
  }));
}

function requestBody({ body, example }: Contract, toSchema: SchemaWriter): JsonObject {
  if (body === undefined) return {};
  const content = bodyContentOf(body, toSchema);
  if (example === undefined) return { requestBody: { required: true, content } };
  const [type = ''] = Object.keys(content);
  return { requestBody: { required: true, content: { ...content, [type]: { ...content[type], example } } } };
}

function bodyContentOf(body: RouteBody, toSchema: SchemaWriter): Record<string, JsonObject> {
  switch (body.kind) {
    case 'json':
      return { 'application/json': { schema: toSchema(body.schema, 'input') } };
    case 'json or form':
      return { 'application/json': { schema: toSchema(body.schema, 'input') }, 'multipart/form-data': {} };
    case 'form':
      return { 'multipart/form-data': {} };
    case 'native':
      return { 'application/json': {} };
    case 'text':
      return Object.fromEntries(body.contentTypes.map((type) => [type, {}]));
  }
}

function answers(contract: Contract, toSchema: SchemaWriter): JsonObject {
  const media = Object.fromEntries((contract.otherMedia ?? []).map((type) => [type, {}]));
  const json = (schema: z.ZodType) => ({ 'application/json': { schema: toSchema(schema, 'output') } });
  return Object.fromEntries(
    Object.entries(contract.answers).map(([status, schema]) => [
      status,
      schema === null
        ? { description: 'No body.' }
        : {
            description: 'The answer.',
            content: { ...(schema instanceof z.ZodFile ? {} : json(schema)), ...media },
          },
    ]),
  );
}

/** One entry per status, listing the codes that it can carry. */
function refusals(contract: Contract, toSchema: SchemaWriter): JsonObject {
  const told = codesOf(contract).map((code) => ({ code, status: String(errorStatus(code)) }));
  const again = (contract.codesAs400 ?? []).map((code) => ({ code, status: '400' }));
  const codesOfStatus = Object.groupBy([...told, ...again], ({ status }) => status);
  const schema = toSchema(contract.errors?.schema ?? errorSchema, 'output');
  return Object.fromEntries(
    Object.entries(codesOfStatus)
      .filter(([status]) => !Object.hasOwn(contract.answers, status))
      .map(([status, entries = []]) => {
        const codes = entries.map(({ code }) => code);
        return [
          status,
          { description: codes.join(', '), content: { 'application/json': { schema } }, 'x-codes': codes },
        ];
      }),
  );
}

const CODES_OF_SESSION = [
  'not_signed_in',
  'csrf_refused',
  'no_account',
  'insufficient_role',
  'database_unavailable',
] as const satisfies readonly ErrorCode[];

const CODES_OF_ACCESS: Readonly<Record<Access, readonly ErrorCode[]>> = {
  public: [],
  caller: [
    'missing_token',
    'invalid_api_key',
    'key_disabled',
    'key_expired',
    'account_disabled',
    'no_account',
    'insufficient_scope',
    'rate_limited',
    'too_many_concurrent_requests',
    'limits_unavailable',
    'identity_unavailable',
  ],
  session: CODES_OF_SESSION,
  playground: [
    ...CODES_OF_SESSION,
    'account_disabled',
    'rate_limited',
    'too_many_concurrent_requests',
    'limits_unavailable',
  ],
  operator: ['missing_token', 'not_found', 'csrf_refused', 'insufficient_role', 'database_unavailable'],
};
const CODES_OF_EVERY_ROUTE: readonly ErrorCode[] = ['malformed_request', 'internal_error', 'shutting_down'];
const CODES_OF_BODY: readonly ErrorCode[] = [
  'body_too_large',
  'unsupported_content_encoding',
  'unsupported_content_type',
  'invalid_json',
];
const CODES_OF_FORM: readonly ErrorCode[] = [
  'unsupported_content_encoding',
  'unsupported_content_type',
  'invalid_multipart',
  'form_field_too_large',
];
/** A large body on a route that takes none is refused as well, except on GET, where it is not even read. */
const CODES_OF_UNWANTED_BODY: readonly ErrorCode[] = ['body_too_large', 'unsupported_content_type'];

function codesOfBody(method: Contract['method'], body: Contract['body']): readonly ErrorCode[] {
  if (body?.kind === 'native') return [body.tooLarge, 'unsupported_content_encoding', 'unsupported_content_type'];
  if (body?.kind === 'form') return [body.tooLarge, ...CODES_OF_FORM];
  if (body?.kind === 'json or form') return [...CODES_OF_BODY, ...CODES_OF_FORM];
  if (body !== undefined) return CODES_OF_BODY;
  return method === 'GET' ? [] : CODES_OF_UNWANTED_BODY;
}

function codesOf({ method, access, body, query, codes = [] }: Contract): ErrorCode[] {
  return [
    ...CODES_OF_EVERY_ROUTE,
    ...CODES_OF_ACCESS[access],
    ...codesOfBody(method, body),
    ...(query === undefined && access !== 'operator' && !body?.kind.startsWith('json')
      ? []
      : (['invalid_parameter'] as const)),
    ...codes,
  ].filter((code, index, all) => all.indexOf(code) === index);
}
