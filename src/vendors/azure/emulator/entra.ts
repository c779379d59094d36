import { json } from '../../emulator/json.ts';
import type { Recorded } from '../../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../../emulator/scripted-server.ts';

const SCOPES = ['https://ai.azure.com/.default', 'https://cognitiveservices.azure.com/.default'];
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface EntraOptions {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The token that the cluster vouches with at present. */
  readonly assertion?: () => string;
  readonly identityHeader?: string;
  readonly lifetimeSeconds?: number;
}

/** Where Azure gives tokens: its sign-in server, and the endpoints of managed identities. */
export class EntraEmulator extends ScriptedServer {
  /** Those that the resource still takes. */
  readonly tokens = new Set<string>();
  readonly #options: EntraOptions;
  #count = 0;

  constructor(options: EntraOptions) {
    super((asked) => Promise.resolve(this.#answer(asked)));
    this.#options = options;
  }

  #answer(asked: Recorded): Answer {
    const { pathname, searchParams } = new URL(asked.path, 'http://entra');
    if (asked.method === 'GET') return this.#identity(pathname, searchParams, asked);
    if (pathname !== `/${this.#options.tenantId}/oauth2/v2.0/token`)
      return refusal(400, 'invalid_request', 'AADSTS90002');
    if (asked.headers['content-type'] !== 'application/x-www-form-urlencoded') {
      return refusal(400, 'invalid_request', 'AADSTS900144');
    }
    const form = new URLSearchParams(asked.bytes.toString());
    if (form.get('grant_type') !== 'client_credentials') return refusal(400, 'unsupported_grant_type', 'AADSTS70003');
    if (!SCOPES.includes(form.get('scope') ?? '')) return refusal(400, 'invalid_scope', 'AADSTS70011');
    if (form.get('client_id') !== this.#options.clientId) return refusal(400, 'unauthorized_client', 'AADSTS700016');
    return this.#isProven(form) ? this.#token('number') : refusal(401, 'invalid_client', 'AADSTS7000215');
  }

  #isProven(form: URLSearchParams): boolean {
    const { clientSecret, assertion } = this.#options;
    if (form.has('client_secret')) return form.get('client_secret') === clientSecret && !form.has('client_assertion');
    return form.get('client_assertion_type') === ASSERTION && form.get('client_assertion') === assertion?.();
  }

  /** Of a virtual machine, or of a web app. */
  #identity(path: string, query: URLSearchParams, { headers }: Recorded): Answer {
    const isApp = path === '/msi/token';
    if (!isApp && path !== '/metadata/identity/oauth2/token') return refusal(404, 'not_found', 'no such path');
    const version = isApp ? '2019-08-01' : '2018-02-01';
    const isHeaded = isApp
      ? headers['x-identity-header'] === this.#options.identityHeader
      : headers.metadata === 'true' && headers['x-forwarded-for'] === undefined;
    if (query.get('api-version') !== version || !isHeaded) return refusal(400, 'invalid_request', 'header or version');
    if (!SCOPES.includes(`${query.get('resource')}/.default`)) return refusal(400, 'invalid_resource', 'resource');
    if ((query.get('client_id') ?? this.#options.clientId) !== this.#options.clientId) {
      return refusal(400, 'invalid_request', 'Identity not found');
    }
    return this.#token('string');
  }

  /** A managed identity tells the seconds as text. */
  #token(seconds: 'number' | 'string'): Answer {
    this.#count += 1;
    const { lifetimeSeconds = 3599 } = this.#options;
    const access_token = `entra-token-${this.#count}`;
    this.tokens.add(access_token);
    const expires_in = seconds === 'string' ? String(lifetimeSeconds) : lifetimeSeconds;
    return json(200, { token_type: 'Bearer', expires_in, access_token });
  }
}

function refusal(status: number, error: string, error_description: string): Answer {
  return json(status, { error, error_description });
}
