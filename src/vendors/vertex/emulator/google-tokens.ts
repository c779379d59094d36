import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { json } from '../../emulator/json.ts';
import type { Recorded } from '../../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../../emulator/scripted-server.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const AUDIENCE = 'https://oauth2.googleapis.com/token';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Where Google gives tokens: for a signed assertion, for a token of another issuer, and at the metadata server. */
export class GoogleTokensEmulator extends ScriptedServer {
  readonly email = 'gate@project-1.iam.gserviceaccount.com';
  /** Those that the models' host still takes. */
  readonly tokens = new Set<string>();
  /** What the cluster vouches with at present. */
  subjectToken = 'vouched-1';
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

  constructor() {
    super((asked) => Promise.resolve(this.#answer(asked)));
  }

  /** The JSON that an operator downloads. */
  get key(): object {
    const private_key = this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' });
    return {
      type: 'service_account',
      project_id: 'project-1',
      private_key_id: 'k1',
      private_key,
      client_email: this.email,
    };
  }

  #answer(asked: Recorded): Answer {
    if (asked.method === 'GET') return this.#metadata(asked);
    if (asked.path !== '/token') return refusal(404, 'not_found', 'no such path');
    if (!/^application\/x-www-form-urlencoded/.test(asked.headers['content-type'] ?? '')) {
      return refusal(400, 'invalid_request', 'a form is expected');
    }
    const form = new URLSearchParams(asked.bytes.toString());
    if (form.get('grant_type') === EXCHANGE) return this.#exchange(form);
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return refusal(400, 'unsupported_grant_type', 'Invalid grant_type');
    }
    const fault = this.#assertionFault(form.get('assertion') ?? '');
    return fault === undefined ? this.#token() : refusal(400, 'invalid_grant', fault);
  }

  #assertionFault(assertion: string): string | undefined {
    const [head = '', claims = '', signature = ''] = assertion.split('.');
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    const key = createPublicKey(this.#keys.privateKey);
    if (!verify.verify(key, Buffer.from(signature, 'base64url'))) return 'Invalid JWT Signature.';
    const { iss, scope, aud, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    if (iss !== this.email) return 'Invalid JWT: unknown issuer.';
    if (scope !== SCOPE || aud !== AUDIENCE) return 'Invalid JWT: wrong scope or audience.';
    return exp - iat === 3600 ? undefined : 'Invalid JWT: wrong lifetime.';
  }

  #exchange(form: URLSearchParams): Answer {
    const isKnown = form.get('subject_token') === this.subjectToken && form.get('scope') === SCOPE;
    return isKnown ? this.#token() : refusal(400, 'invalid_grant', 'The subject token is not taken.');
  }

  #metadata({ path, headers }: Recorded): Answer {
    if (headers['metadata-flavor'] !== 'Google')
      return refusal(403, 'forbidden', 'Missing Metadata-Flavor:Google header.');
    if (path !== '/computeMetadata/v1/instance/service-accounts/default/token') return refusal(404, 'not_found', path);
    return this.#token();
  }

  #token(): Answer {
    const access_token = `google-token-${this.tokens.size + 1}`;
    this.tokens.add(access_token);
    const kind = 'urn:ietf:params:oauth:token-type:access_token';
    return json(200, { access_token, expires_in: 3599, token_type: 'Bearer', issued_token_type: kind });
  }
}

function refusal(status: number, error: string, error_description: string): Answer {
  return json(status, { error, error_description });
}
