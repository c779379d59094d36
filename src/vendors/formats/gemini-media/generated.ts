import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../../limits.ts';
import type { JsonWithBlobs } from '../../kit/blobs.ts';
import type { Upstream } from '../../kit/http.ts';
import { objectAt, objectsAt, stringAt } from '../../kit/json.ts';
import { refuseKeys } from '../../kit/refusals.ts';
import type { CallBody, Wire } from '../../kit/wire.ts';
import type { TaskUsage } from '../../vendor.ts';
import { blockOf, toCall, usageOf } from '../generate-content/index.ts';

/** A picture or a sound out of an answer. */
export interface Medium {
  readonly mimeType: string;
  readonly data: Buffer;
}

export interface Generated {
  /** At least one. */
  readonly media: readonly [Medium, ...Medium[]];
  readonly usage: TaskUsage;
}

/** Asks a model that answers with media inside the answer. Throws UpstreamError, also where the answer holds none. */
export async function generate(
  wire: Wire,
  upstream: Upstream,
  kind: 'image' | 'audio',
  body: CallBody,
): Promise<Generated> {
  const call = toCall(upstream, { action: 'generateContent', body });
  const answer = await wire.jsonWithBlobs(upstream, call, 'data', UPSTREAM_PICTURES_BYTES_MAX);
  return { media: mediaIn(answer, kind), usage: tokensIn(answer.json) };
}

/** What public fields and the route decide, in both spellings that the vendor takes. */
const RESERVED = [
  ...['model', 'contents', 'tools', 'store', 'labels', 'generationConfig', 'generation_config', 'toolConfig'],
  ...['tool_config', 'cachedContent', 'cached_content', 'serviceTier', 'service_tier', 'continuationToken'],
  ...['continuation_token'],
];

/** Throws ApiError for an unmodelled key that would change what is answered or what it costs. */
export function refuseReserved(extra: JsonObject): void {
  refuseKeys(extra, RESERVED);
}

/** Why a candidate ended without all that was asked for. A reason that is not here is a fault of the upstream's own. */
const FINISHES: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map(refusedAs),
  ...['IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'].map(refusedAs),
  // Another model may draw it, speak that language, or have room for the whole.
  ...['NO_IMAGE', 'LANGUAGE', 'MAX_TOKENS', 'CONTINUATION'].map((reason) => [reason, 'unfit'] as const),
]);

function refusedAs(reason: string): [string, Fault] {
  return [reason, 'policy'];
}

function mediaIn({ json, blobs }: JsonWithBlobs, kind: string): Generated['media'] {
  const blocked = blockOf(json);
  if (blocked !== undefined) throw new UpstreamError('policy', `the prompt was blocked: ${blocked}`);
  const [candidate] = objectsAt(json, 'candidates');
  const reason = stringAt(candidate, 'finishReason') ?? 'STOP';
  if (reason !== 'STOP') throw new UpstreamError(FINISHES.get(reason) ?? 'server', `it ended with ${reason}`);
  // Thoughts may hold drafts.
  const parts = objectsAt(objectAt(candidate, 'content'), 'parts').filter(({ thought }) => thought !== true);
  const [first, ...others] = parts.flatMap((part) => mediumOf(objectAt(part, 'inlineData'), kind, blobs) ?? []);
  if (first !== undefined) return [first, ...others];
  if (parts.some(({ text }) => typeof text === 'string'))
    throw new UpstreamError('unfit', `words came, and no ${kind}`);
  throw new UpstreamError('garbled', `an answer without ${kind}`);
}

function mediumOf(inline: JsonObject | undefined, kind: string, blobs: readonly Buffer[]): Medium | undefined {
  const mimeType = stringAt(inline, 'mimeType') ?? '';
  const data = dataIn(inline, blobs);
  return mimeType.toLowerCase().startsWith(`${kind}/`) && data.length > 0 ? { mimeType, data } : undefined;
}

/** Base64 under `data`, or the number of its blob. */
export function dataIn(content: JsonObject | undefined, blobs: readonly Buffer[]): Buffer {
  const data = content?.data;
  return (typeof data === 'number' ? blobs[data] : undefined) ?? Buffer.from(stringAt(content, 'data') ?? '', 'base64');
}

function tokensIn(answer: JsonObject): TaskUsage {
  const usage = usageOf(answer);
  if (usage === undefined) return {};
  return {
    inputTokens: usage.inputTokens + usage.cachedTokens,
    outputTokens: usage.outputTokens + usage.reasoningTokens,
  };
}
