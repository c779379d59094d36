import type { EmbeddingRequest } from '../schemas/index.ts';
import type { Upstream } from './kit/http.ts';
import type { TokenUsage } from './vendor.ts';

/** Text to vectors, answered while the caller waits. An adaptor translates, as for chat. */
export interface EmbeddingWork {
  /** Throws ApiError `unsupported_parameter`, naming the field, for what this upstream cannot take. Pure; nothing is held yet. */
  check(request: EmbeddingRequest, upstream: Pick<Upstream, 'model' | 'address' | 'dialect'>): void;
  /** All inputs or none; more than one call of the upstream can take are sent in several. Throws UpstreamError. */
  embed(request: EmbeddingRequest, upstream: Upstream): Promise<Embeddings>;
}

export interface Embeddings {
  /** In the order of the inputs: the numbers of each as float32, small end first, exactly as the upstream told them. */
  readonly vectors: readonly Buffer[];
  /** Of all inputs together; undefined where the upstream tells none. */
  readonly usage: TokenUsage | undefined;
}
