import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, findConsoleCaller, invalidToken } from '../../accounts/index.ts';
import { ApiError } from '../../errors.ts';
import { protectedResource } from '../../oauth/index.ts';
import { type AccountRole, type Membership, sessions } from '../../people/index.ts';
import type { Throttle } from '../../throttle/index.ts';
import { bytesMaxOf, type Contract, type NeededScope, tooLargeCode } from '../contract/contract.ts';
import type { HttpDeps } from '../deps.ts';
import { isForm } from './body.ts';
import { bearerOf, credentialOf } from './credential.ts';
import { notFound } from './not-found.ts';
import type { BrowserSessions } from './session.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by admission on routes of access `caller` and `playground`. */
    caller: Caller;
    /** Gives the caller's slot back; called once the answer has ended in whatever way. */
    release?: () => void;
  }
}

type Authorization = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Everything that is decided before a body is read, in the order of faults: path, size by Content-Length,
 * credential, account state, rate and slot.
 */
export function authorize(deps: HttpDeps, contract: Contract): Authorization {
  const identify = identifier(deps, contract);
  const { body, url } = contract;
  if (body === undefined) {
    return async (request, reply) => {
      await identify(request, reply);
      request.authorizedAtMs = performance.now();
    };
  }
  const tooLarge = tooLargeCode(contract);
  return async (request, reply) => {
    if (url?.isMeant?.(request.url) === false) throw notFound(request.method, request.url);
    const bytesMax = bytesMaxOf(body, isForm(request));
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw new ApiError(tooLarge);
    await identify(request, reply);
    request.authorizedAtMs = performance.now();
    refuseEncoded(request);
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
  };
}

function identifier(deps: HttpDeps, contract: Contract): Authorization {
  switch (contract.access) {
    case 'public':
      return async () => undefined;
    case 'caller':
      return callerAuthorization(deps, contract);
    case 'session':
      return sessionAuthorization(deps, contract);
    case 'playground':
      return playgroundAuthorization(deps, contract);
    case 'operator':
      return operatorAuthorization(deps);
  }
}

function callerAuthorization(deps: HttpDeps, { scope = 'none', bucket, resource }: Contract): Authorization {
  const identify = async (request: FastifyRequest) => {
    const credential = credentialOf(request, deps.config.partnerKeyHeader);
    if (credential === undefined) throw new ApiError('missing_token');
    request.caller = await deps.authenticator.authenticate(credential);
    refuseElsewhere(request.caller, resource && deps.config.publicUrl + resource.path);
    refuseUnscoped(request.caller, scope);
  };
  return async (request, reply) => {
    if (resource === undefined) await identify(request);
    else await identify(request).catch((error) => Promise.reject(challengeFor(error, resource, deps.config.publicUrl)));
    await enter(deps.throttle, request, reply, bucket);
  };
}

type Resource = NonNullable<Contract['resource']>;

/** The same refusal with where the resource says which authorization server it trusts (RFC 9728, section 5.1). */
export function challengeFor(error: unknown, { path, scopes }: Resource, publicUrl: string): unknown {
  if (!(error instanceof ApiError) || (error.status !== 401 && error.code !== 'insufficient_scope')) return error;
  const { code, message, param, cause } = error;
  const own = error.headers['www-authenticate']?.replace(/^Bearer ?/, '') ?? '';
  const metadata = `resource_metadata="${publicUrl}${protectedResource.METADATA_PATH}${path}"`;
  const scope = own.includes('scope="') ? '' : `scope="${scopes.join(' ')}"`;
  const challenge = `Bearer ${[own, metadata, scope].filter((part) => part !== '').join(', ')}`;
  return new ApiError(code, { message, param, cause, headers: { ...error.headers, 'www-authenticate': challenge } });
}

/** RFC 8707: a token that was given out for one resource is none at any other. */
function refuseElsewhere({ resource }: Caller, here: string | undefined): void {
  if (resource === undefined || resource === here) return;
  throw invalidToken('invalid_api_key', `This access token was given out for ${resource} alone.`);
}

/** What is not a token may do everything. */
export function refuseUnscoped({ scopes }: Caller, needed: NeededScope): void {
  if (scopes === undefined || needed === 'any') return;
  if (needed !== 'none' && scopes.has(needed)) return;
  const missing = needed === 'none' ? '' : `, scope="${needed}"`;
  throw new ApiError('insufficient_scope', {
    message:
      needed === 'none'
        ? 'Access tokens are not accepted here; use an API key.'
        : `The access token lacks the scope "${needed}".`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope"${missing}` },
  });
}

/** Takes a request of the caller's minute and one of its slots, or of a bucket of its own with as many of both. */
async function enter(throttle: Throttle, request: FastifyRequest, reply: FastifyReply, bucket?: string): Promise<void> {
  const { limitSubject, allowance } = request.caller;
  const slot = await throttle.take(bucket === undefined ? limitSubject : `${limitSubject}:${bucket}`, allowance);
  if (slot.state === 'refused') throw new ApiError(slot.code);
  request.release = slot.release;
  // The connection may have closed during the look-up, and then its end will release no slot.
  if (reply.raw.closed) slot.release();
}

/** A person at a browser, with the role that the route needs in the account that the session works in. */
function sessionAuthorization({ browser }: HttpDeps, { role }: Contract): Authorization {
  return async (request, reply) => {
    const signedIn = await requireSession(browser, request, reply);
    if (role !== undefined) requireRole(signedIn, role);
  };
}

/** A cookie does not mark an answer as one person's, as the Authorization header does: caches have to be told. */
function requireSession(
  browser: BrowserSessions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<sessions.SignedIn> {
  reply.header('cache-control', 'private, no-store');
  return browser.require(request);
}

function requireRole({ membership }: sessions.SignedIn, role: AccountRole): Membership {
  if (membership === undefined) throw new ApiError('no_account');
  if (!sessions.isAtLeast(membership.role, role)) throw new ApiError('insufficient_role');
  return membership;
}

/** A session in the place of a credential: from here on the request is a call of the account like any other. */
function playgroundAuthorization(deps: HttpDeps, { role = 'member' }: Contract): Authorization {
  return async (request, reply) => {
    const signedIn = await requireSession(deps.browser, request, reply);
    const { accountId } = requireRole(signedIn, role);
    request.caller = await findConsoleCaller(deps, accountId, signedIn.person.id);
    await enter(deps.throttle, request, reply);
  };
}

/** Without the admin token, and without a session of an operator, there is nothing here. */
function operatorAuthorization({ adminTokens, config, browser }: HttpDeps): Authorization {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  const expected = adminTokens.map((token) => digestOf(token.reveal()));
  return async (request) => {
    if (credentialOf(request, config.partnerKeyHeader) === undefined) {
      if (request.headers.cookie === undefined) throw new ApiError('missing_token');
      return authorizeOperatorSession(browser, request);
    }
    const token = bearerOf(request.headers.authorization);
    if (token === undefined || !isOneOf(digestOf(token), expected)) throw notFound(request.method, request.url);
  };
}

/** Compares with every one, so that the time tells neither how much of a token was right nor which one it was. */
function isOneOf(candidate: Buffer, expected: readonly Buffer[]): boolean {
  return expected.filter((digest) => timingSafeEqual(candidate, digest)).length > 0;
}

async function authorizeOperatorSession(browser: BrowserSessions, request: FastifyRequest): Promise<void> {
  const role = (await browser.find(request))?.person.operatorRole;
  if (role === undefined || role === null) throw notFound(request.method, request.url);
  await browser.require(request);
  if (role === 'auditor' && request.method !== 'GET') throw new ApiError('insufficient_role');
}

function refuseEncoded(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ApiError('unsupported_content_encoding');
  }
}
