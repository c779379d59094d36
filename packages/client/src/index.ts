/**
 * The client library of a Tollgate gateway: what a program calls, without knowing of retries, idempotency keys, polling,
 * forms or server-sent events. It needs nothing but `fetch`, streams and `crypto`, as Node 20 and browsers have them.
 * The shapes on the wire are types made from the gateway's own contract (`contract.ts`).
 */
export type { ChatAnswer, ChatChoice, ChatChunk, ChatMessage, ChatParams, ToolCall } from './chat.ts';
export {
  type AwaitedOptions,
  type Editing,
  type EmbeddingAnswer,
  type Generating,
  Tollgate,
  type TranscriptionParams,
} from './client.ts';
export type {
  Asset,
  CreditBalance,
  EmbeddingRequest,
  ErrorCode,
  Estimate,
  EstimateRequest,
  File,
  ImageEditRequest,
  ImageRequest,
  Job,
  MediaInput,
  Model,
  SoundRequest,
  Transcription,
  VideoRequest,
} from './contract.ts';
export { type ConnectionCode, JobError, TollgateError } from './errors.ts';
export type { Upload, UploadName } from './form.ts';
export type { CreateOptions, JobFilter, Jobs, Outcome, WaitOptions } from './jobs.ts';
export type { Media } from './media.ts';
export type { CallOptions, TollgateOptions } from './transport.ts';
