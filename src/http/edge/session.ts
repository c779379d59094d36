import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config, Secret } from '../../config.ts';
import { ApiError } from '../../errors.ts';
import { SESSION_MS_MAX } from '../../limits.ts';
import { type PeopleDeps, sessions } from '../../people/index.ts';
import { deriveKey } from '../../seal.ts';
import { type ClientAddress, clientAddress } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where a session is asked for and there is one. */
    signedIn?: sessions.SignedIn;
  }
}

export interface SessionDeps extends PeopleDeps {
  readonly config: Pick<Config, 'publicUrl' | 'signUp' | 'trustedProxies'>;
  readonly rootSecret: Secret;
}

const CSRF_HEADER = 'x-csrf-token';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The browser's side of a session: its cookie, and what proves that a request was made by one of our own pages. The token
 * against forged requests is a keyed digest of the session's id, so it needs no storage and dies with the session.
 */
export class BrowserSessions {
  readonly #deps: SessionDeps;
  readonly #csrfKey: Buffer;
  readonly #origin: string;
  readonly #cookieName: string;
  readonly #attributes: string;
  readonly #addressOf: ClientAddress;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#csrfKey = deriveKey(deps.rootSecret, 'csrf tokens');
    this.#origin = new URL(deps.config.publicUrl).origin;
    const isSecure = this.#origin.startsWith('https:');
    // The prefix binds the cookie to this host, to https and to the whole site; browsers refuse it without https.
    this.#cookieName = isSecure ? '__Host-tollgate_session' : 'tollgate_session';
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
    this.#addressOf = clientAddress(deps.config.trustedProxies);
  }

  /** Who is signed in at the browser that sent this, undefined without a session. Looked up once per request. */
  async find(request: FastifyRequest): Promise<sessions.SignedIn | undefined> {
    if (request.signedIn !== undefined) return request.signedIn;
    const secret = cookieOf(request, this.#cookieName);
    const signedIn = secret === undefined ? undefined : await sessions.findSession(this.#deps, secret);
    if (signedIn !== undefined) request.signedIn = signedIn;
    return signedIn;
  }

  /** Whether there may be a session, without looking it up. */
  hasCookie(request: FastifyRequest): boolean {
    return cookieOf(request, this.#cookieName) !== undefined;
  }

  /** Throws `not_signed_in`, or `csrf_refused` for a changing request without the session's token. */
  async require(request: FastifyRequest): Promise<sessions.SignedIn> {
    const signedIn = await this.find(request);
    if (signedIn === undefined) throw new ApiError('not_signed_in');
    if (!SAFE_METHODS.has(request.method)) {
      this.refuseForeignOrigin(request);
      this.refuseForged(signedIn, String(request.headers[CSRF_HEADER] ?? ''));
    }
    return signedIn;
  }

  /** The same for a form of one of our pages, which carries the token in a field. */
  async requireForm(request: FastifyRequest, form: URLSearchParams): Promise<sessions.SignedIn> {
    const signedIn = await this.find(request);
    if (signedIn === undefined) throw new ApiError('not_signed_in');
    this.refuseForged(signedIn, form.get('csrf') ?? '');
    return signedIn;
  }

  csrfToken({ session }: sessions.SignedIn): string {
    return createHmac('sha256', this.#csrfKey).update(session.id).digest('base64url');
  }

  refuseForged(signedIn: sessions.SignedIn, csrf: string): void {
    const expected = Buffer.from(this.csrfToken(signedIn));
    const token = Buffer.from(csrf);
    if (token.length !== expected.length || !timingSafeEqual(token, expected)) throw new ApiError('csrf_refused');
  }

  /** Browsers name the page's origin with every changing request; one that names another was made by another's page. */
  refuseForeignOrigin(request: FastifyRequest): void {
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    const isForeign = origin === undefined ? site !== undefined && site !== 'same-origin' : origin !== this.#origin;
    if (isForeign) throw new ApiError('csrf_refused');
  }

  /** A new cookie at every sign-in: one that was planted before it opens nothing. */
  begin(reply: FastifyReply, secret: string): void {
    const maxAge = Math.floor(SESSION_MS_MAX / 1000);
    reply.header('set-cookie', `${this.#cookieName}=${secret}; ${this.#attributes}; Max-Age=${maxAge}`);
  }

  end(reply: FastifyReply): void {
    reply.header('set-cookie', `${this.#cookieName}=; ${this.#attributes}; Max-Age=0`);
  }

  originOf(request: FastifyRequest): sessions.Origin {
    return { address: this.#addressOf(request.raw), userAgent: request.headers['user-agent'] ?? '' };
  }
}

export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
}
