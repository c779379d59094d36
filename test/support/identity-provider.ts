import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { request } from 'undici';

const CLIENT_ID = 'tollgate';
const CLIENT_SECRET = 'a-secret-of-the-identity-provider';

export interface IdentityProviderOptions {
  readonly redirectUri: string;
  /** Tells email and groups at the userinfo endpoint only, as the standard has it. */
  readonly atUserinfoOnly?: boolean;
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post';
}

/** A real OpenID provider on a port of its own, at which one person at a time is signed in. */
export class IdentityProvider {
  /** Who signs in next, and what is told of them. */
  person: { readonly subject: string; readonly claims: Record<string, unknown> } = { subject: 'nobody', claims: {} };
  /** Method and path of every request. */
  readonly requests: string[] = [];
  readonly issuer: string;
  readonly #provider: Provider;
  readonly #port: number;
  #server: Server;

  private constructor(server: Server, port: number, options: IdentityProviderOptions) {
    this.#server = server;
    this.#port = port;
    this.issuer = `http://127.0.0.1:${port}`;
    this.#provider = new Provider(this.issuer, this.#configuration(options));
    this.#serve(server);
  }

  static async start(options: IdentityProviderOptions): Promise<IdentityProvider> {
    const server = createServer();
    await listening(server, 0);
    return new IdentityProvider(server, (server.address() as AddressInfo).port, options);
  }

  get settings(): Record<string, string> {
    return { OIDC_ISSUER: this.issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET };
  }

  /** What a browser does at the provider, from the address it is sent to until it is sent away. */
  async visit(address: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(address);
    for (let hops = 0; url.origin === this.issuer; hops++) {
      assert.ok(hops < 12, 'redirects go in circles');
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await request(url, { headers: { cookie } });
      for (const set of [response.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      const text = await response.body.text();
      assert.ok([302, 303].includes(response.statusCode), `${response.statusCode} ${text}`);
      url = new URL(String(response.headers.location), this.issuer);
    }
    return url;
  }

  /** Nothing listens at its address any more. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async startAgain(): Promise<void> {
    this.#server = createServer();
    this.#serve(this.#server);
    await listening(this.#server, this.#port);
  }

  #serve(server: Server): void {
    const callback = this.#provider.callback();
    server.on('request', (incoming, answer) => {
      const path = incoming.url ?? '';
      this.requests.push(`${incoming.method} ${path.replace(/\?.*/, '')}`);
      if (path.startsWith('/interaction/')) void this.#interact(incoming, answer);
      else void callback(incoming, answer);
    });
  }

  /** Signs the person in and consents, without asking. */
  async #interact(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const provider = this.#provider;
    const { prompt, params, session } = await provider.interactionDetails(incoming, answer);
    if (prompt.name === 'login') {
      await provider.interactionFinished(incoming, answer, { login: { accountId: this.person.subject } });
      return;
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    await provider.interactionFinished(incoming, answer, { consent: { grantId: await grant.save() } });
  }

  #configuration({ redirectUri, atUserinfoOnly = false, authMethod }: IdentityProviderOptions): Configuration {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const methods = authMethod === undefined ? {} : { clientAuthMethods: [authMethod] };
    return {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: authMethod ?? 'client_secret_basic',
        },
      ],
      ...methods,
      conformIdTokenClaims: atUserinfoOnly,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups', 'teams'] },
      cookies: { keys: ['a key for the cookies of a test'] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: async () => ({ sub: accountId, ...this.person.claims }),
      }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] as never },
      pkce: { required: () => true },
      ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Grant: 600, Interaction: 600, Session: 600 },
    };
  }
}

async function listening(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
