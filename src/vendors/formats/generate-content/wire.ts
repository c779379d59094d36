import type { Fault } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { FaultRules } from '../../kit/faults.ts';
import type { Upstream } from '../../kit/http.ts';
import { countOr, itemsAt, objectAt, objectsAt, stringAt } from '../../kit/json.ts';
import { type Call, type CallBody, defineWire } from '../../kit/wire.ts';
import type { NativeAction, TokenUsage } from '../../vendor.ts';

/** How long to stay away is told as `"12.5s"` in a detail of the error. */
export const faultRules = {
  errorIn: (body) => objectAt(body, 'error'),
  codesIn: (body) => detailsIn(body).map((detail) => stringAt(detail, 'reason')),
  codes: { account: ['API_KEY_INVALID'] },
  retryAfterMs: (body) => {
    const delays = detailsIn(body).map((detail) => /^(\d{1,6}(?:\.\d+)?)s$/.exec(stringAt(detail, 'retryDelay') ?? ''));
    const seconds = delays.find((delay) => delay !== null)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  },
} satisfies FaultRules;

/** A bad key is told as a bad request. Interactions have a name in place of the number of an error. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ 'x-goog-api-key': apiKey }),
  faults: {
    ...faultRules,
    codesIn: (body) => [...faultRules.codesIn(body), stringAt(objectAt(body, 'error'), 'code')],
    codes: {
      account: [...faultRules.codes.account, 'BILLING_DISABLED'],
      // Unverified, but for the first: the names of interactions' errors beyond it.
      client: ['invalid_request', 'invalid_argument'],
      rate: ['resource_exhausted', 'rate_limit_exceeded'],
    },
    // For names that appear without notice.
    patterns: [[/content_?policy|safety|prohibited_?content/i, 'policy']],
    exception: faultInWords,
  },
});

const UNPAID =
  /\bprepa(?:id|yment|y)\b.{0,30}\bcredits?\b|\bcredits? (?:are|is|have been) (?:depleted|exhausted|used up)|\b(?:enable|set up) billing\b|\bbilling .{0,30}(?:disabled|not enabled|closed)\b/i;

const AGAINST_POLICY =
  /\bviolat(?:es?|ed|ion)\b.{0,60}\bpolic(?:y|ies)\b|\bblocked\b.{0,60}\b(?:safety|polic(?:y|ies))\b/i;

/** An unpaid bill comes with 400, 402 or 429, the last of which is otherwise a throttle with much the same words. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const message = stringAt(objectAt(body, 'error'), 'message') ?? '';
  if (UNPAID.test(message)) return 'account';
  return AGAINST_POLICY.test(message) ? 'policy' : undefined;
}

function detailsIn(body: JsonObject): JsonObject[] {
  return objectsAt(objectAt(body, 'error'), 'details');
}

interface Post {
  readonly action: NativeAction | 'batchEmbedContents';
  readonly body: CallBody;
  /** '' or 'a=1&b=2'. */
  readonly query?: string;
}

export function toCall({ model }: Upstream, { action, body, query = '' }: Post): Call {
  return { path: `/v1beta/${modelPath(model)}:${action}${searchOf(action, query)}`, body };
}

/**
 * A stream is asked for as events, since without `alt` it would be an array; a whole answer as JSON. So of `alt` only
 * the place is kept, unless it asks for neither.
 */
function searchOf(action: Post['action'], query: string): string {
  const parts = query === '' ? [] : query.split('&');
  const alt = action === 'streamGenerateContent' ? 'alt=sse' : 'alt=json';
  const place = parts.findIndex(isUsualAlt);
  const search = parts.flatMap((part, at) => (!isUsualAlt(part) ? [part] : at === place ? [alt] : []));
  if (alt === 'alt=sse' && !parts.some(isAlt)) search.push(alt);
  // Whatever a caller's query may hold, what goes out is a query and nothing else.
  return search.length === 0 ? '' : new URL(`?${search.join('&')}`, 'http://localhost').search;
}

function isUsualAlt(part: string): boolean {
  return part === 'alt=sse' || part === 'alt=json' || part === 'alt=' || part === 'alt';
}

function isAlt(part: string): boolean {
  return part === 'alt' || part.startsWith('alt=');
}

/** Slashes and colons are part of the name and stay as they are; what would end the path does not. */
export function modelPath(model: string): string {
  const isWhole = model.startsWith('models/') || model.startsWith('tunedModels/');
  const path = encodeURIComponent(isWhole ? model : `models/${model}`);
  return path.replaceAll('%2F', '/').replaceAll('%3A', ':');
}

/** The vendor counts cached tokens inside the prompt, and thoughts outside the answer. */
export function usageOf(answer: JsonObject): TokenUsage | undefined {
  const usage = objectAt(answer, 'usageMetadata');
  if (usage === undefined) return undefined;
  const cachedTokens = countOr(usage, 'cachedContentTokenCount', 0);
  const promptTokens = countOr(usage, 'promptTokenCount', 0) + countOr(usage, 'toolUsePromptTokenCount', 0);
  const tokens = {
    inputTokens: Math.max(0, promptTokens - cachedTokens),
    cachedTokens,
    outputTokens: countOr(usage, 'candidatesTokenCount', 0),
    reasoningTokens: countOr(usage, 'thoughtsTokenCount', 0),
  };
  // Of counts among which one is none, none can be trusted.
  return Object.values(tokens).some(Number.isNaN) ? undefined : tokens;
}

/** Why the prompt was refused: such an answer is a success without candidates. */
export function blockOf(answer: JsonObject): string | undefined {
  const feedback = objectAt(answer, 'promptFeedback');
  if (feedback === undefined || itemsAt(answer, 'candidates').length > 0) return undefined;
  return stringAt(feedback, 'blockReason');
}
