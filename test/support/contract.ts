import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from './gateway.ts';

interface Operation {
  readonly responses: Record<
    string,
    { readonly content?: { readonly 'application/json': { readonly schema: object } }; readonly 'x-codes'?: string[] }
  >;
}

interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: object;
}

/** Holds every answer of a server to the OpenAPI document that the same server publishes. */
export class ContractCheck {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #document: OpenApi;
  readonly #validators = new Map<string, ValidateFunction>();
  /** The longest template first: it is the most particular. */
  readonly #templates: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(document: OpenApi) {
    this.#document = document;
    const paths = Object.keys(document.paths).toSorted((a, b) => b.split('/').length - a.split('/').length);
    this.#templates = paths.map((path) => ({ path, pattern: patternOf(path) }));
  }

  check(method: string, url: string, answer: Answer): void {
    assert.match(answer.headers['x-request-id'] ?? '', /^[\x20-\x7e]{1,128}$/, 'every answer carries a request id');
    const limits = Object.keys(answer.headers).filter((name) => name.startsWith('x-ratelimit-'));
    assert.deepEqual(limits, [], 'no answer carries a rate-limit header');
    const found = this.#operationOf(method === 'HEAD' ? 'GET' : method, url);
    if (found === undefined) {
      assert.ok(
        [400, 404, 503].includes(answer.status),
        `${method} ${url} is not documented but answered ${answer.status}`,
      );
      if (answer.json.type === 'error') checkMessagesError(answer);
      else this.#checkEnvelope(answer);
      return;
    }
    const response = found.operation.responses[answer.status];
    assert.ok(response, `${method} ${found.path} answered ${answer.status}, which is not documented: ${answer.text}`);
    if (method === 'HEAD' || response.content === undefined) {
      assert.equal(answer.text, '');
      return;
    }
    const [mediaType = ''] = (answer.headers['content-type'] ?? '').split(';', 1);
    const documented = Object.keys(response.content).some((type) => isOfType(mediaType, type));
    assert.ok(documented, `${method} ${found.path} answered undocumented ${mediaType}`);
    if (mediaType !== 'application/json') return;
    const schema = response.content['application/json'].schema;
    this.#checkBody(`${method} ${found.path} ${answer.status}`, schema, answer);
    if (response['x-codes'] !== undefined) {
      if (MESSAGES_PATHS.test(found.path)) checkMessagesError(answer);
      else this.#checkEnvelope(answer);
      const { code } = answer.json.error;
      assert.ok(response['x-codes'].includes(code), `${method} ${found.path} answered the undocumented code ${code}`);
    }
  }

  #checkBody(place: string, schema: object, answer: Answer): void {
    let validate = this.#validators.get(place);
    if (validate === undefined) {
      // References point at `#/components/…`, so those stand beside each schema.
      validate = this.#ajv.compile({ ...schema, components: this.#document.components });
      this.#validators.set(place, validate);
    }
    assert.ok(validate(answer.json), `${place}: ${JSON.stringify(validate.errors)} in ${answer.text}`);
  }

  #checkEnvelope(answer: Answer): void {
    const { error, ...rest } = answer.json;
    assert.deepEqual(rest, {});
    assert.deepEqual(Object.keys(error), ['message', 'type', 'code', 'param']);
    if (error.param !== null) assert.match(error.param, /^[\w.[\]-]{1,100}$/);
    assert.ok(ERROR_TYPES.has(error.type), `unknown error type ${error.type}`);
    assert.match(error.code, /^[a-z0-9_]+$/);
    assert.ok(error.message.length > 0);
  }

  #operationOf(method: string, url: string): { path: string; operation: Operation } | undefined {
    const [given = ''] = url.split('?', 1);
    for (const { path, pattern } of this.#templates) {
      const operation = pattern.test(given) ? this.#document.paths[path]?.[method.toLowerCase()] : undefined;
      if (operation !== undefined) return { path, operation };
    }
    return undefined;
  }
}

/** Clients of their format know its own shape of a refusal. */
const MESSAGES_PATHS = /^\/v1\/messages(\/|$)/;

function checkMessagesError({ json, headers }: Answer): void {
  const { type, error, request_id: requestId } = json;
  assert.deepEqual([type, requestId, headers['request-id']], ['error', headers['x-request-id'], requestId]);
  assert.ok(MESSAGES_ERROR_TYPES.has(error.type), `unknown error type ${error.type}`);
  assert.match(error.code, /^[a-z0-9_]+$/);
  assert.ok(error.message.length > 0);
}

const MESSAGES_ERROR_TYPES = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'api_error',
  'overloaded_error',
  'timeout_error',
]);

const ERROR_TYPES = new Set([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'insufficient_quota',
  'upstream_error',
  'timeout_error',
  'server_error',
]);

function isOfType(mediaType: string, documented: string): boolean {
  return documented.endsWith('/*') ? mediaType.startsWith(documented.slice(0, -1)) : mediaType === documented;
}

/**
 * Model ids, the keys of stored objects and what follows the colon of the native format may contain slashes; every other
 * parameter is one segment, for the router also an empty one.
 */
function patternOf(template: string): RegExp {
  const pattern = template
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{(model(_id)?|object)\}/g, '.+')
    // An empty model is a call of the format, too, and asked for a credential before it is refused.
    .replace('/v1beta/models/.+', '/v1beta/models/.*')
    .replace(':{action}', '(?::|%3[Aa]).*')
    .replace(/\{\w+\}/g, '[^/]*');
  return new RegExp(`^${pattern}$`);
}
