import type { JsonObject } from '../json.ts';

/** What is to be done with a clip; the clip itself travels beside it. */
export interface TranscriptionRequest {
  /** The public name that the caller asked for. */
  readonly model: string;
  /** An ISO code, as a hint. */
  readonly language: string | undefined;
  /** Context, as a hint. */
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  readonly responseFormat: 'json' | 'text' | 'verbose_json';
  /** What times are asked for; none where the caller did not say. */
  readonly granularities: readonly ('segment' | 'word')[];
  /** Keys that are not modelled, for the upstream, numbers as they were written. */
  readonly extra: JsonObject;
}
