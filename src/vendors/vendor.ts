import type { JsonObject } from '../json.ts';
import type { ChatRequest } from '../requests/index.ts';
import type { Upstream } from './http.ts';

/** A foreign wire format: what an upstream that speaks it must be given, and the work it can do. */
export interface Vendor {
  /** For configuration and logs; never sent to a caller. */
  readonly name: string;
  /** With the version segment, the bare origin, or none because it runs inside this process. */
  readonly address: 'versioned' | 'origin' | 'none';
  readonly apiKey: 'required' | 'optional' | 'none';
  /** What is absent is not offered. */
  readonly chat?: ChatWork;
  readonly native?: NativeWork;
}

/**
 * Chat in the common chat-completions shape. An adaptor translates; that is all. It never retries, logs, prices, sleeps,
 * or knows the caller. It throws ApiError for what this format cannot express, before anything is sent, and
 * UpstreamError for what the upstream did.
 */
export interface ChatWork {
  complete(request: ChatRequest, upstream: Upstream): Promise<ChatAnswer>;
  /** Resolves when the upstream has accepted the request. The caller takes each chunk as it comes. */
  stream(request: ChatRequest, upstream: Upstream): Promise<ChunkStream>;
}

export interface ChunkStream extends AsyncIterable<ChatChunk> {
  /** Hands out, without waiting, a chunk that came together with the last one. */
  ready?(): ChatChunk | undefined;
}

/** `body` is a whole `chat.completion`; who sends it on replaces its `id`, `model` and `usage`. */
export interface ChatAnswer {
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
}

/** `body` is a `chat.completion.chunk`, or undefined when the upstream only told its usage. */
export interface ChatChunk {
  readonly body: JsonObject | undefined;
  /** In place of the body's own `choices`, where the vendor has them as text already. */
  readonly written?: WrittenChoices;
  /** A running total, where the upstream tells one; the last counts. */
  readonly usage: TokenUsage | undefined;
}

/** `choices` as JSON, fit for the caller, and what they add to the answer. */
interface WrittenChoices {
  readonly choices: string;
  readonly content: string;
}

/** Disjoint counts, as prices are. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export type NativeAction = 'generateContent' | 'streamGenerateContent' | 'countTokens';

/** The native format's own bytes. */
export interface NativeRequest {
  readonly action: NativeAction;
  /** Exactly as the caller sent them. */
  readonly body: Buffer;
  /** Without credentials, with the caller's order and repetition; '' or 'a=1&b=2'. */
  readonly query: string;
  /** The caller's headers, where it sent them. */
  readonly contentType?: string | undefined;
  readonly accept: string | undefined;
}

/** Success bytes go to the caller untouched. */
export interface NativeWork {
  /** generateContent and countTokens. */
  call(request: NativeRequest, upstream: Upstream): Promise<NativeAnswer>;
  /** Server-sent events, frame by frame. */
  stream(request: NativeRequest, upstream: Upstream): Promise<NativeStream>;
}

export interface NativeAnswer {
  readonly contentType: string;
  readonly body: Buffer;
  readonly usage: TokenUsage | undefined;
}

interface NativeStream {
  readonly contentType: string;
  readonly frames: AsyncIterable<NativeFrame>;
}

export interface NativeFrame {
  /** The event as it came, its blank line included. */
  readonly bytes: Buffer;
  /** What stands behind `data:`. */
  readonly data: string;
  readonly usage: TokenUsage | undefined;
}
