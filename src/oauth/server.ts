import { timingSafeEqual } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorOut, InteractionResults, KoaContextWithOIDC } from 'oidc-provider';
import * as errors from 'oidc-provider/lib/helpers/errors.js';
import { Provider } from 'oidc-provider/lib/provider.js';
import { systemClock } from '../clock.ts';
import { DatabaseUnavailable } from '../db/index.ts';
import { newSecretText } from '../secret-text.ts';
import { orTemporarilyUnavailable, temporarilyUnavailable, UsedTwice } from './adapter.ts';
import type { ServerDeps } from './deps.ts';
import { digestOf } from './digest.ts';
import { currentExchange, type Exchange, runExchange, serverActor } from './exchange.ts';
import { revokeIn } from './grants.ts';
import { OAUTH_PATHS } from './metadata.ts';
import { isRedirectAllowed } from './redirect-uri.ts';
import { librarySettings } from './settings.ts';

/** An error that a person sees, because there is no app to tell it to. */
export type ErrorPage = (problem: {
  readonly code: string;
  readonly description: string;
  readonly requestId: string;
}) => {
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
};

/** An authorization that waits for a person's decision. */
export interface PendingAuthorization {
  readonly uid: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** The session in which it was begun; undefined for one that was begun before a sign-in. */
  readonly sessionId: string | undefined;
  /** The app wants to be sure of the person, or of the decision. */
  readonly asksFor: { readonly signIn: boolean; readonly consent: boolean };
  /** Where the app's request is made again, by a person who has signed in since. */
  readonly startPath: string;
  /** Where it goes on once it has been decided. */
  readonly resumePath: string;
}

type Context = Pick<ReturnType<Provider['createContext']>, 'path' | 'status' | 'body' | 'set' | 'remove'>;

export type Decision = { readonly personId: string; readonly grantId?: string } | 'denied';

/** OAuth 2.0 on the library, which knows of people and sessions only what a request tells it. */
export class AuthorizationServer {
  readonly #deps: ServerDeps;
  readonly #errorPage: ErrorPage;
  readonly #library: Provider;
  readonly #callback: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly #public: URL;

  constructor(deps: ServerDeps, errorPage: ErrorPage) {
    this.#deps = deps;
    this.#errorPage = errorPage;
    this.#public = new URL(deps.config.publicUrl);
    this.#library = new Provider(
      deps.config.publicUrl,
      librarySettings(deps, (ctx, out) => this.#showError(ctx, out)),
    );
    // Addresses and the cookies' Secure flag follow the two headers, which `answer` sets.
    this.#library.proxy = true;
    this.#library.use(async (ctx, next) => {
      await next();
      if (ctx.path === OAUTH_PATHS.introspect) this.#dateByClock(ctx);
      if (ctx.status < 400) await this.#commit(ctx);
    });
    const events: EventEmitter = this.#library;
    events.on('error', (error) => this.#logFault(error));
    events.on('server_error', (_ctx, error) => this.#logFault(error));
    adaptModels(this.#library);
    this.#callback = this.#library.callback();
  }

  /** Answers a request to one of `OAUTH_PATHS`. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Omit<Exchange, 'writes' | 'isRevocation'>,
  ): Promise<void> {
    request.headers['x-forwarded-proto'] = this.#public.protocol.slice(0, -1);
    request.headers['x-forwarded-host'] = this.#public.host;
    const isRevocation = request.url === OAUTH_PATHS.revoke;
    await runExchange({ ...exchange, isRevocation, writes: [] }, () => this.#callback(request, response));
  }

  /** Undefined when there is none, when it has expired, and when it was begun in another browser. */
  async findPending(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
  ): Promise<PendingAuthorization | undefined> {
    const { cookies } = this.#library.createContext(request, response);
    if (cookies.get(this.#library.cookieName('interaction'), { signed: true }) !== uid) return undefined;
    const interaction = await this.#library.Interaction.find(uid);
    if (interaction === undefined) return undefined;
    const params = Object.entries(interaction.params).map(([name, value]) => [name, String(value)]);
    const query = new URLSearchParams(params);
    const prompts = promptsOf(query);
    return {
      uid,
      clientId: query.get('client_id') ?? '',
      scopes: (query.get('scope') ?? '').split(' '),
      redirectUri: query.get('redirect_uri') ?? '',
      sessionId: interaction.session?.uid,
      asksFor: { signIn: prompts.includes('login'), consent: prompts.includes('consent') },
      startPath: `${OAUTH_PATHS.authorize}?${withoutSignIn(query).toString()}`,
      resumePath: `${OAUTH_PATHS.authorize}/${uid}`,
    };
  }

  async decide({ uid }: PendingAuthorization, decision: Decision): Promise<void> {
    const interaction = await this.#library.Interaction.find(uid);
    if (interaction === undefined) return;
    interaction.result = resultOf(decision);
    await interaction.persist();
  }

  /** The library dates by the system's time, see `adapter.ts`. */
  #dateByClock({ body }: Context): void {
    if (!isActive(body)) return;
    const aheadSeconds = Math.round((this.#deps.clock.nowMs() - systemClock.nowMs()) / 1000);
    Object.assign(body, { iat: body.iat + aheadSeconds, exp: body.exp + aheadSeconds });
  }

  /** One transaction for all that the request changes, before its answer is sent. */
  async #commit(ctx: Context): Promise<void> {
    const { db, bus } = this.#deps;
    const { writes = [], isRevocation = false } = currentExchange() ?? {};
    if (writes.length === 0) return;
    try {
      await db.transaction(async (tx) => {
        for (const write of writes) await write(tx);
      });
      // A token that was revoked is accepted by no process when the answer arrives.
      if (isRevocation) await bus.heardByAll();
    } catch (error) {
      await this.#fail(ctx, error);
    }
  }

  async #fail(ctx: Context, error: unknown): Promise<void> {
    ctx.remove('location');
    if (error instanceof UsedTwice) {
      await this.#revokeUsedTwice(error);
      ctx.status = 400;
      this.#showError(ctx, { error: 'invalid_grant', error_description: 'grant request is invalid' });
    } else if (error instanceof DatabaseUnavailable) {
      ctx.status = 503;
      this.#showError(ctx, {
        error: 'temporarily_unavailable',
        error_description: temporarilyUnavailable(error).message,
      });
    } else {
      this.#logFault(error);
      ctx.status = 500;
      this.#showError(ctx, { error: 'server_error', error_description: 'Something went wrong.' });
    }
  }

  async #revokeUsedTwice({ grantId }: UsedTwice): Promise<void> {
    if (grantId === undefined) return;
    await this.#deps.db.transaction((tx) => revokeIn(tx, this.#deps, serverActor(), { id: grantId }));
    await this.#deps.bus.heardByAll();
  }

  /** A page where a person looks, RFC 6749's object where a program does, whatever either says it accepts. */
  #showError(ctx: Context, { error, error_description: description = '' }: ErrorOut): void {
    if (!ctx.path.startsWith(OAUTH_PATHS.authorize)) {
      ctx.body = { error, error_description: description };
      return;
    }
    const page = this.#errorPage({ code: error, description, requestId: currentExchange()?.requestId ?? '' });
    ctx.set(page.headers);
    ctx.body = page.html;
  }

  #logFault(error: unknown): void {
    const { log } = this.#deps;
    const request_id = currentExchange()?.requestId;
    const cause = error instanceof errors.OIDCProviderError ? error.cause : error;
    if (cause instanceof DatabaseUnavailable) log.warn({ request_id, reason: cause.message }, 'an engine is away');
    else log.error({ request_id, err: error }, 'unexpected error of the authorization server');
  }
}

function resultOf(decision: Decision): InteractionResults {
  if (decision === 'denied') return { error: 'access_denied', error_description: 'The person did not allow it.' };
  const { personId, grantId } = decision;
  return { login: { accountId: personId }, ...(grantId === undefined ? {} : { consent: { grantId } }) };
}

function isActive(body: unknown): body is { readonly iat: number; readonly exp: number } {
  return typeof body === 'object' && body !== null && 'active' in body && body.active === true;
}

function promptsOf(query: URLSearchParams): readonly string[] {
  return (query.get('prompt') ?? '').split(' ');
}

/** The same request without its wish for a new sign-in, which has been fulfilled. */
function withoutSignIn(query: URLSearchParams): URLSearchParams {
  const rest = promptsOf(query).filter((prompt) => prompt !== 'login' && prompt !== '');
  const again = new URLSearchParams(query);
  if (rest.length === 0) again.delete('prompt');
  else again.set('prompt', rest.join(' '));
  return again;
}

/** Where the library leaves no setting: its models' own methods, as its documentation has it for secrets. */
function adaptModels({ AccessToken, RefreshToken, Client, Session }: Provider): void {
  Object.assign(AccessToken.prototype, {
    generateTokenId(this: { format: string }) {
      this.format = 'opaque';
      return newSecretText('oat_');
    },
  });
  Object.assign(RefreshToken.prototype, { generateTokenId: () => newSecretText('ort_') });
  Object.assign(Client.prototype, {
    compareClientSecret(this: { clientSecret: string }, secret: string) {
      return timingSafeEqual(Buffer.from(this.clientSecret, 'hex'), digestOf(secret));
    },
    responseModeAllowed(mode: string) {
      // A refusal of the mode goes to the app by query like any other, not in the mode that is refused.
      if (mode !== 'query') Object.assign(Provider.ctx?.oidc.params ?? {}, { response_mode: undefined });
      return mode === 'query';
    },
    redirectUriAllowed(this: { redirectUris: string[]; clientAuthMethod: string }, redirectUri: string) {
      return isRedirectAllowed(this.redirectUris, redirectUri, this.clientAuthMethod === 'none');
    },
  });
  // The gateway's session is the only one. What the library takes for destroyed it neither stores nor sends as a cookie.
  Session.get = async (ctx) => {
    const visitor = await orTemporarilyUnavailable(async () => currentExchange()?.visitor());
    const own = visitor === undefined ? {} : { uid: visitor.sessionId, accountId: visitor.personId };
    const session = Object.assign(new Session(), own, { destroyed: true });
    const { oidc } = ctx as unknown as KoaContextWithOIDC;
    oidc.entity('Session', session);
    return session;
  };
}
