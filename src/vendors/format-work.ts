import type { JsonObject } from '../json.ts';
import type { Upstream } from './kit/http.ts';
import type { ReadyStream, TokenUsage } from './vendor.ts';

/**
 * A format of text generation that the vendor's servers speak themselves, so that requests and answers are passed on as
 * they are. The adaptor sends, reads usage and maps faults; ids and the model's name are replaced by the format.
 */
export interface FormatWork {
  /** Whether this upstream speaks it: not every server that imitates the vendor does. */
  speaks(upstream: Pick<Upstream, 'address' | 'dialect'>): boolean;
  complete(request: FormatRequest, upstream: Upstream): Promise<FormatAnswer>;
  /** Resolves when the upstream has accepted the request. Throws UpstreamError for a fault that the stream itself tells. */
  stream(request: FormatRequest, upstream: Upstream): Promise<ReadyStream<FormatFrame>>;
  /** How many tokens a prompt has; absent where the vendor does not count for nothing. */
  count?(request: FormatRequest, upstream: Upstream): Promise<number>;
}

export interface FormatRequest {
  /** As the caller sent it, numbers as written; the model's name is to be replaced. */
  readonly body: JsonObject;
  /** The same to the byte, for vendors that put their name of the model into these; absent where `body` was changed. */
  readonly bytes?: Buffer | undefined;
  /** All of the caller's, credentials included: an adaptor takes by name those that its format has. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

export interface FormatAnswer {
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
}

/** One server-sent event. */
export interface FormatFrame {
  /** '' where it has no name. */
  readonly event: string;
  /** What stands behind `data:`, as it came. */
  readonly data: string;
  /** The same, parsed. */
  readonly body: JsonObject;
  /** What it adds to the answer, for counting where the upstream does not. */
  readonly added: string;
  /** A running total, where the upstream tells one; the last counts. */
  readonly usage: TokenUsage | undefined;
}
