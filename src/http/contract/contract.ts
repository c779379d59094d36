import type { z } from 'zod';
import type { ErrorCode, ErrorEnvelope } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { AccountRole } from '../../people/index.ts';
import type { LoggedEndpoint } from '../../request-log/index.ts';
import type { Scope } from '../../scopes.ts';

/**
 * Who may use a route: the public, a caller with a credential, a person who is signed in at a browser, the same person
 * calling models as the account, or an operator with the admin token or, as a person with that role, a session.
 */
export type Access = 'public' | 'caller' | 'session' | 'playground' | 'operator';

/** What an app's token must be allowed on a route: a scope, nothing in particular, or no token opens it at all. */
export type NeededScope = Scope | 'any' | 'none';

/** What a route takes and answers. The OpenAPI document is made from these and from nothing else. */
export type Contract = Content & Door;

/**
 * Every route that takes an API key says what it needs of a token, and whether a signed-in person has the same in the
 * console, to look at or to run.
 */
type Door =
  | { readonly access: 'caller'; readonly scope: NeededScope; readonly console?: 'read' | 'run' }
  | { readonly access: Exclude<Access, 'caller'>; readonly scope?: never; readonly console?: never };

interface Content {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for a segment; `{name*}` at the end takes the rest, slashes included. */
  readonly path: string;
  /**
   * Where the framework matches more than the path can say: what is no such path is refused before the body is parsed.
   * What `isMeant` denies is an unknown path, for callers without a credential as well.
   */
  readonly url?: {
    readonly pattern: string;
    readonly isMeant?: (url: string) => boolean;
    readonly check: (url: string) => void;
  };
  readonly summary: string;
  /** On routes of access `session` and `playground`: the role that the person needs in the session's account. */
  readonly role?: AccountRole;
  /** Requests that ask for work leave a row in the request log, under this name. */
  readonly logged?: LoggedEndpoint;
  /** A protected resource with metadata of its own (RFC 9728): refusals of its credential say where that is. */
  readonly resource?: { readonly path: string; readonly scopes: readonly Scope[] };
  /** Answers HEAD as well. */
  readonly head?: boolean;
  /** Any web page may read the answer. */
  readonly anyOrigin?: boolean;
  /** On routes for the operator a parameter that is not in it is refused. */
  readonly query?: z.ZodObject;
  readonly body?: RouteBody;
  /** A body that the route takes, for the document; of a form, its fields. */
  readonly example?: JsonObject;
  /** Media types beside JSON in which the answer can be asked for. */
  readonly otherMedia?: readonly string[];
  /** `z.file()` is no JSON at all but one of the other media; null is no body. */
  readonly answers: { readonly [status: number]: z.ZodType | null };
  /** How this route tells its refusals, where clients of its format know another shape than the envelope. */
  readonly errors?: ErrorShape;
  /** Requests are counted in a bucket of this name, beside the caller's own. */
  readonly bucket?: string;
  /** Codes beyond those that every route of its kind can answer. */
  readonly codes?: readonly ErrorCode[];
  /** Of these, those that some callers are told with status 400, so that their client library does not try again. */
  readonly codesAs400?: readonly ErrorCode[];
}

/** The refusals of a route in the shape of its format. */
export interface ErrorShape {
  readonly schema: z.ZodType;
  /** Carries the request id on every answer, beside our own. */
  readonly idHeader: string;
  bodyOf(envelope: ErrorEnvelope, requestId: string): JsonObject;
}

export type RouteBody =
  | {
      readonly kind: 'json';
      readonly schema: z.ZodType;
      readonly bytesMax: number;
      /** As they came, for upstreams that are sent the same. */
      readonly keepsBytes?: boolean;
      /** How many values it may have, where that is more than usual. */
      readonly valuesMax?: number;
    }
  /** JSON, or a form whose files the route takes one by one; each has its own cap. */
  | {
      readonly kind: 'json or form';
      readonly schema: z.ZodType;
      readonly bytesMax: number;
      readonly formBytesMax: number;
    }
  | { readonly kind: 'form'; readonly formBytesMax: number; readonly tooLarge: ErrorCode }
  /** JSON that is passed on as the bytes that it is. */
  | { readonly kind: 'native'; readonly bytesMax: number; readonly tooLarge: ErrorCode }
  | { readonly kind: 'text'; readonly contentTypes: readonly string[]; readonly bytesMax: number };

/** The same route for a person at a browser, where there is one. */
export function consoleContract(contract: Contract): Contract | undefined {
  const { console: use, scope: _, ...same } = contract;
  switch (use) {
    case undefined:
      return undefined;
    case 'read':
      return { ...same, path: consolePath(same.path), access: 'session', role: 'viewer' };
    case 'run':
      return { ...same, path: same.path.replace('/v1/', '/api/console/run/'), access: 'playground', role: 'member' };
  }
}

/** Where the console reads what a caller reads at this path. */
export function consolePath(path: string): string {
  return path.replace('/v1/', '/api/console/');
}

/** What a body over its cap is called on this route. */
export function tooLargeCode({ body }: Pick<Contract, 'body'>): ErrorCode {
  return body?.kind === 'native' || body?.kind === 'form' ? body.tooLarge : 'body_too_large';
}

/** How large a body of this kind may be here. */
export function bytesMaxOf(body: RouteBody, isForm: boolean): number {
  if (body.kind === 'form') return body.formBytesMax;
  return isForm && body.kind === 'json or form' ? body.formBytesMax : body.bytesMax;
}
