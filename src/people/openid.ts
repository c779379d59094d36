import * as openid from 'openid-client';
import { Agent, request } from 'undici';
import { isEmail } from '../addresses.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import { PROVIDER_ANSWER_BYTES_MAX, PROVIDER_METADATA_MS, PROVIDER_TIMEOUT_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { OidcSettings } from '../oidc-settings.ts';

/** What only the browser that began a sign-in can bring back. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the identity provider proves of the person at the browser. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Undefined unless the provider says that it has verified it. */
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly groups: readonly string[];
}

/** The provider did not confirm the person, or what it sent is no proof. Its own words stay in `cause`. */
export class ProofRefused extends Error {}

/** OpenID Connect Core, "ID Token": at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

interface OpenIdDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * A relying party of one OpenID provider: the code flow with PKCE, state and nonce, over connections with a time limit and
 * a bound on what is read. What the provider says of itself is asked for when it is first needed, so a start does not
 * depend on it, and asked for again after a failure.
 */
export class OpenIdClient {
  readonly settings: OidcSettings;
  readonly #deps: OpenIdDeps;
  readonly #agent = new Agent({
    connect: { timeout: PROVIDER_TIMEOUT_MS },
    headersTimeout: PROVIDER_TIMEOUT_MS,
    bodyTimeout: PROVIDER_TIMEOUT_MS,
    maxResponseSize: PROVIDER_ANSWER_BYTES_MAX,
  });
  #metadata: { readonly atMs: number; readonly configuration: Promise<openid.Configuration> } | undefined;

  constructor(settings: OidcSettings, deps: OpenIdDeps) {
    this.settings = settings;
    this.#deps = deps;
  }

  /** Where to send the browser. Throws `sign_in_unavailable`. */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly attempt: Attempt }> {
    const configuration = await this.#configuration();
    const attempt = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.settings.scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, attempt };
  }

  /** Exchanges the code. `answer` is the address that the provider sent the browser to. Throws ProofRefused or `sign_in_unavailable`. */
  async finish(attempt: Attempt, answer: URL): Promise<Identity> {
    const configuration = await this.#configuration();
    try {
      const tokens = await openid.authorizationCodeGrant(configuration, answer, {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      });
      const proven = tokens.claims();
      if (proven === undefined) throw new ProofRefused('there is no ID token');
      return this.#identity(await this.#completed(configuration, tokens.access_token, proven));
    } catch (error) {
      throw unavailableIn(error) ?? new ProofRefused('no proof', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /** Many providers leave out of the ID token what they tell at the userinfo endpoint. */
  async #completed(
    configuration: openid.Configuration,
    accessToken: string,
    proven: openid.IDToken,
  ): Promise<openid.IDToken> {
    const { groups, groupsClaim } = this.settings;
    const isComplete = proven.email !== undefined && (groups.length === 0 || proven[groupsClaim] !== undefined);
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return proven;
    return { ...(await openid.fetchUserInfo(configuration, accessToken, proven.sub)), ...proven };
  }

  #identity(claims: openid.IDToken): Identity {
    const { email, email_verified: isVerified, name } = claims;
    if (!SUBJECT.test(claims.sub)) throw new ProofRefused('the subject is not one');
    const groups = [claims[this.settings.groupsClaim] ?? []].flat();
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof email === 'string' && isEmail(email) && isVerified === true ? email : undefined,
      name: typeof name === 'string' ? name : undefined,
      groups: groups.filter((group) => typeof group === 'string'),
    };
  }

  async #configuration(): Promise<openid.Configuration> {
    const nowMs = this.#deps.clock.nowMs();
    if (this.#metadata === undefined || nowMs - this.#metadata.atMs >= PROVIDER_METADATA_MS) {
      this.#metadata = { atMs: nowMs, configuration: this.#discover() };
    }
    const metadata = this.#metadata;
    try {
      return await metadata.configuration;
    } catch (error) {
      if (this.#metadata === metadata) this.#metadata = undefined;
      throw unavailableIn(error) ?? this.#unavailable(error);
    }
  }

  #discover(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.settings;
    const isPlain = issuer.startsWith('http:');
    return openid.discovery(new URL(issuer), clientId, undefined, clientAuthentication(clientSecret.reveal()), {
      execute: [openid.enableNonRepudiationChecks, ...(isPlain ? [openid.allowInsecureRequests] : [])],
      timeout: PROVIDER_TIMEOUT_MS / 1000,
      [openid.customFetch]: (url, options) => this.#fetch(url, options),
    });
  }

  /** A provider that cannot be asked, or is at fault itself, is told apart here from one whose answer is no proof. */
  async #fetch(url: string, { method, headers, body, signal }: openid.CustomFetchOptions): Promise<Response> {
    const sent = body instanceof URLSearchParams ? body.toString() : null;
    try {
      const options = { method, headers, body: sent, signal: signal ?? null, dispatcher: this.#agent };
      const answer = await request(url, options);
      const text = await answer.body.text();
      if (answer.statusCode >= 500) throw new Error(`status ${answer.statusCode}`);
      const plain = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      return new Response(text === '' ? null : text, { status: answer.statusCode, headers: plain });
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #unavailable(error: unknown): ApiError {
    this.#deps.log.warn({ reason: reasonOf(error) }, 'the identity provider is away');
    return new ApiError('sign_in_unavailable');
  }
}

/** As the provider says that it takes it; the secret in the header is what every provider must take. */
function clientAuthentication(secret: string): openid.ClientAuth {
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = methods.includes('client_secret_basic') ? basic : post;
    chosen(server, client, body, headers);
  };
}

/** The library wraps what its requests threw. */
function unavailableIn(error: unknown): ApiError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ApiError) return at;
  return undefined;
}

/** The library's or the system's own code; a message may quote what was sent. */
function reasonOf(error: unknown): string {
  const codes: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) codes.push('code' in at ? String(at.code) : at.message);
  return codes.join(': ');
}
