import { type Fault, UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import { send, type Upstream, type UpstreamReply } from '../kit/http.ts';
import { countOr, isObject, itemsAt, objectAt, stringAt } from '../kit/json.ts';
import type { NativeAction, TokenUsage } from '../vendor.ts';

export interface Post {
  readonly action: NativeAction;
  readonly body: string | Buffer;
  /** '' or 'a=1&b=2'. */
  readonly query: string;
  readonly contentType?: string | undefined;
  readonly accept: string;
}

/** Resolves at the upstream's success. */
export function post(upstream: Upstream, asked: Post): Promise<UpstreamReply> {
  const { action, body, contentType = 'application/json', accept } = asked;
  const path = `/v1beta/${modelPath(upstream.model)}:${action}${searchOf(asked)}`;
  const headers = { 'x-goog-api-key': upstream.apiKey, 'content-type': contentType, accept };
  return send(upstream, { method: 'POST', path, headers, body }, { faultOf: faultOfRefusal, retryAfterMs });
}

/**
 * A stream is asked for as events, since without `alt` it would be an array; a whole answer as JSON. So of `alt` only
 * the place is kept, unless it asks for neither.
 */
function searchOf({ action, query }: Post): string {
  const parts = query === '' ? [] : query.split('&');
  const wanted = action === 'streamGenerateContent' ? 'alt=sse' : 'alt=json';
  const place = parts.findIndex(isUsualAlt);
  const kept = parts.flatMap((part, at) => (!isUsualAlt(part) ? [part] : at === place ? [wanted] : []));
  if (wanted === 'alt=sse' && !parts.some(isAlt)) kept.push(wanted);
  // Whatever a caller's query may hold, what goes out is a query and nothing else.
  return kept.length === 0 ? '' : new URL(`?${kept.join('&')}`, 'http://localhost').search;
}

function isUsualAlt(part: string): boolean {
  return part === 'alt=sse' || part === 'alt=json' || part === 'alt=' || part === 'alt';
}

function isAlt(part: string): boolean {
  return part === 'alt' || part.startsWith('alt=');
}

/** Slashes and colons are part of the name and stay as they are; what would end the path does not. */
function modelPath(model: string): string {
  const isWhole = model.startsWith('models/') || model.startsWith('tunedModels/');
  const path = encodeURIComponent(isWhole ? model : `models/${model}`);
  return path.replaceAll('%2F', '/').replaceAll('%3A', ':');
}

function faultOfRefusal(status: number, body: JsonObject | undefined): Fault | undefined {
  if (status === 400 && body !== undefined && isKeyRefused(body)) return 'account';
  // ABORTED, ALREADY_EXISTS and CANCELLED: nothing that the caller did.
  return status === 409 || status === 499 ? 'server' : undefined;
}

/** A bad key is told as a bad request. */
function isKeyRefused(body: JsonObject): boolean {
  const error = objectAt(body, 'error');
  if (error === undefined) return false;
  return itemsAt(error, 'details').some((detail) => isObject(detail) && detail.reason === 'API_KEY_INVALID');
}

/** How long the vendor wants to be left alone, as `"12.5s"` in a detail of its error. */
function retryAfterMs(body: JsonObject): number | undefined {
  const details = itemsAt(objectAt(body, 'error') ?? {}, 'details');
  const delays = details.flatMap((detail) => (isObject(detail) ? [stringAt(detail, 'retryDelay') ?? ''] : []));
  const seconds = delays.map((delay) => /^(\d{1,6}(?:\.\d+)?)s$/.exec(delay)?.[1]).find((text) => text !== undefined);
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** An error told inside a success, whole or streamed; undefined for every other answer. */
export function errorOf(answer: JsonObject): UpstreamError | undefined {
  const error = objectAt(answer, 'error');
  if (error === undefined) return undefined;
  const detail = `an error inside a success: ${JSON.stringify(error)}`.slice(0, UPSTREAM_ERROR_BYTES_MAX);
  const fault = isKeyRefused(answer) ? 'account' : faultOfCode(error.code);
  return new UpstreamError(fault, detail, { retryAfterMs: retryAfterMs(answer) });
}

function faultOfCode(code: unknown): Fault {
  switch (code) {
    case 400:
      return 'client';
    case 401:
    case 402:
    case 403:
      return 'account';
    case 404:
      return 'config';
    case 429:
      return 'rate';
    default:
      return 'server';
  }
}

/** The vendor counts cached tokens inside the prompt, and thoughts outside the answer. */
export function usageOf(answer: JsonObject): TokenUsage | undefined {
  const usage = objectAt(answer, 'usageMetadata');
  if (usage === undefined) return undefined;
  const cachedTokens = countOr(usage, 'cachedContentTokenCount', 0);
  const promptTokens = countOr(usage, 'promptTokenCount', 0) + countOr(usage, 'toolUsePromptTokenCount', 0);
  const counted = {
    inputTokens: Math.max(0, promptTokens - cachedTokens),
    cachedTokens,
    outputTokens: countOr(usage, 'candidatesTokenCount', 0),
    reasoningTokens: countOr(usage, 'thoughtsTokenCount', 0),
  };
  // Of counts among which one is none, none can be trusted.
  return Object.values(counted).some(Number.isNaN) ? undefined : counted;
}

/** Why the prompt was refused: such an answer is a success without candidates. */
export function blockOf(answer: JsonObject): string | undefined {
  const feedback = objectAt(answer, 'promptFeedback');
  if (feedback === undefined || itemsAt(answer, 'candidates').length > 0) return undefined;
  return stringAt(feedback, 'blockReason');
}

export function contentTypeOf({ headers }: UpstreamReply): string {
  const type = headers['content-type'];
  return (Array.isArray(type) ? type[0] : type) ?? '';
}
