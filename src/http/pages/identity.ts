import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROVIDER_SIGN_IN_MS } from '../../limits.ts';
import { identity, takeOpenIdTurn } from '../../people/index.ts';
import { deriveKeys, type RootSecrets, seal, unsealWithAny } from '../../seal.ts';
import { type BrowserSessions, cookieOf, type SessionDeps } from '../edge/session.ts';
import { localPath, type Pages, startedSession } from './pages.ts';

type IdentityDeps = SessionDeps & RootSecrets;

const CALLBACK = '/sign-in/callback';

/**
 * Out to the identity provider and back. What the return must match is sealed into a cookie of the browser that left, so any
 * process can finish the sign-in and no other browser can. A link and not a form leads out: the pages' content policy lets
 * forms lead nowhere else.
 */
export function identityPages(
  pages: Pages,
  deps: IdentityDeps,
  browser: BrowserSessions,
  client: identity.OpenIdClient,
): void {
  const redirectUri = `${deps.config.publicUrl}${CALLBACK}`;
  const cookie = new AttemptCookie(deps);

  pages.get('/sign-in/provider', async ({ request, reply, query }) => {
    await takeOpenIdTurn(deps, browser.originOf(request).address);
    const { url, attempt } = await client.begin(redirectUri);
    cookie.keep(reply, attempt, localPath(query.get('next')));
    return { goTo: url };
  });

  pages.get(CALLBACK, async ({ request, reply, query }) => {
    const origin = browser.originOf(request);
    await takeOpenIdTurn(deps, origin.address);
    const cookieState = cookie.take(request, reply);
    const back = { attempt: cookieState?.attempt, answer: new URL(`${redirectUri}?${query.toString()}`) };
    const made = await identity.signInByIdentity(deps, client, request.id, back, origin);
    return startedSession(deps, browser, { request, reply }, made, localPath(cookieState?.next ?? null));
  });
}

const SEALED_FOR = 'sign-in by identity provider';

/** A sign-in under way, at the browser that began it. */
class AttemptCookie {
  readonly #deps: IdentityDeps;
  readonly #keys: readonly [Buffer, ...Buffer[]];
  readonly #name: string;
  readonly #attributes: string;

  constructor(deps: IdentityDeps) {
    this.#deps = deps;
    this.#keys = deriveKeys(deps, 'sign-in attempts');
    const isSecure = deps.config.publicUrl.startsWith('https:');
    this.#name = isSecure ? '__Host-tollgate_sign_in' : 'tollgate_sign_in';
    // Lax: the return is a navigation that another site began, which Strict would send without the cookie.
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  keep(reply: FastifyReply, { state, nonce, verifier }: identity.Attempt, next: string): void {
    const expiresAtMs = this.#deps.clock.nowMs() + PROVIDER_SIGN_IN_MS;
    const sealed = seal(this.#keys[0], SEALED_FOR, [state, nonce, verifier, expiresAtMs, next].join('\n'));
    const maxAge = PROVIDER_SIGN_IN_MS / 1000;
    reply.header('set-cookie', `${this.#name}=${sealed}; ${this.#attributes}; Max-Age=${maxAge}`);
  }

  /** The browser forgets it with the answer, however the sign-in ends. */
  take(request: FastifyRequest, reply: FastifyReply): { attempt: KeptAttempt; next: string } | undefined {
    const sealed = cookieOf(request, this.#name);
    if (sealed === undefined) return undefined;
    reply.header('set-cookie', `${this.#name}=; ${this.#attributes}; Max-Age=0`);
    const [state, nonce, verifier, expiresAtMs, next] = this.#opened(sealed).split('\n');
    if (state === undefined || nonce === undefined || verifier === undefined || next === undefined) return undefined;
    return { attempt: { state, nonce, verifier, expiresAt: new Date(Number(expiresAtMs)) }, next };
  }

  #opened(sealed: string): string {
    try {
      return unsealWithAny(this.#keys, SEALED_FOR, sealed);
    } catch {
      return '';
    }
  }
}

type KeptAttempt = NonNullable<identity.Return['attempt']>;
