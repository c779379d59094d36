import type { MicroCredits } from '../credits.ts';
import type { ApiError, ErrorEnvelope } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ChatChunk, FormatFrame, FormatRequest, FormatWork, TokenUsage, Vendor } from '../vendors/index.ts';

/** Tokens of one call, and whether they were counted here because the upstream told none. */
export interface CountedTokens extends TokenUsage {
  readonly estimated: boolean;
}

/** What a call came to. */
export interface Settled {
  readonly tokens: CountedTokens;
  readonly charged: MicroCredits;
}

/**
 * A wire format of text generation: how one chat call is answered. `calls/chat.ts` finds candidates, holds, asks, meters
 * and settles whatever the format; a format only translates. It is made for each call, since it knows the request.
 *
 * A new one: its request becomes a ChatRequest, this says how answers are written, its route gives both to `completeChat`
 * or `startChat`. A vendor that speaks the format itself offers a FormatWork, and `passThrough` says how that is used.
 */
export interface ChatFormat<Answer = JsonObject> {
  /** The request's field that bounds its output: named to a caller whose credits do not cover it. */
  readonly limitField: string;
  /** Whether an upstream that speaks the format may write the prompt to a cache, at a price of its own. */
  readonly writesCache?: () => boolean;
  /** Why no upstream can be asked over chat: only those that speak the format itself are candidates. */
  readonly refusal?: ApiError | undefined;
  /** One whole answer. `body` is a `chat.completion` as a vendor gave it: `id`, `model` and `usage` are not fit to be sent. */
  whole(body: JsonObject, settled: Settled): Answer | Promise<Answer>;
  /** For one stream. `inputTokens` is the estimate that was held for: upstreams tell their own count last. */
  writer(inputTokens: number): FrameWriter<ChatChunk>;
  /** Absent where no vendor speaks the format. */
  readonly passThrough?: PassThrough<Answer>;
}

/**
 * The same call at an upstream that speaks the format itself. Candidates of both kinds stand in one failover order, under
 * one hold.
 */
export interface PassThrough<Answer = JsonObject> {
  /** Undefined where the vendor does not speak the format; FormatWork says which of its upstreams do. */
  workOf(vendor: Vendor): FormatWork | undefined;
  /** What this upstream is sent; the vendor puts its own name of the model in. */
  request(upstreamId: string): FormatRequest;
  /** What of a whole answer the model wrote, for counting where the upstream does not. */
  outputOf(body: JsonObject): JsonValue | undefined;
  /** One whole answer, with nothing in it that tells which upstream gave it. */
  whole(body: JsonObject, settled: Settled, upstreamId: string): Answer | Promise<Answer>;
  writer(upstreamId: string): FrameWriter<FormatFrame>;
}

/** Writes one stream: what goes to the wire for each chunk, and how it ends. */
export interface FrameWriter<Chunk> {
  /** '' where the chunk adds nothing. */
  write(chunk: Chunk): string;
  /** Behind the last chunk, once it is settled; '' for nothing. */
  end(settled: Settled): string | Promise<string>;
  /** In place of the end, for a stream that broke off; undefined where not even its settlement is known. */
  fail(error: ErrorEnvelope, settled: Settled | undefined): string;
}
