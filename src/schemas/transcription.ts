import { z } from 'zod';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { optional } from '../parse.ts';
import { modelField, textField } from './fields.ts';
import { passthrough, unmodelled } from './passthrough.ts';

/** What is to be done with a clip; the clip itself travels beside it. */
export interface TranscriptionRequest {
  /** The public name that the caller asked for. */
  readonly model: string;
  /** To be written down as it was spoken, or in English. */
  readonly task: 'transcribe' | 'translate';
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

/** A request, and where its clip is if it did not come along. */
export interface AskedTranscription {
  readonly request: TranscriptionRequest;
  readonly url: string | undefined;
}

const UNKNOWN_TIMES = { error: 'invalid_timestamp_granularity' };
const granularity = z.enum(['segment', 'word'], UNKNOWN_TIMES);
const granularities = optional(z.union([z.array(granularity, UNKNOWN_TIMES), granularity], UNKNOWN_TIMES));

export const transcriptionSchema = z.object({
  model: modelField,
  file: z.unknown().optional().describe('The clip, in a form.'),
  url: textField.describe('Where the clip is, instead of a file.'),
  response_format: optional(z.enum(['json', 'text', 'verbose_json'], { error: 'invalid_response_format' })),
  language: textField,
  prompt: textField,
  temperature: optional(z.number({ error: 'invalid_temperature' })),
  timestamp_granularities: granularities,
  'timestamp_granularities[]': granularities.describe('The same as `timestamp_granularities`.'),
  stream: optional(z.boolean()),
});

/**
 * `exact` is the same body with every number as it was written; `files` came with it. Throws `missing_file` or
 * `ambiguous_input` unless there is one clip.
 */
export function toTranscription(
  parsed: z.output<typeof transcriptionSchema>,
  exact: JsonObject,
  files = 0,
): AskedTranscription {
  checkOneClip(parsed, files);
  if (parsed.stream === true) {
    throw new ApiError('unsupported_parameter', {
      message: '"stream": a transcript is answered whole.',
      param: 'stream',
    });
  }
  return {
    request: {
      model: parsed.model,
      task: 'transcribe',
      language: parsed.language,
      prompt: parsed.prompt,
      temperature: parsed.temperature,
      responseFormat: parsed.response_format ?? 'json',
      granularities: [
        ...new Set([parsed.timestamp_granularities ?? [], parsed['timestamp_granularities[]'] ?? []].flat()),
      ],
      extra: passthrough(unmodelled(exact, transcriptionSchema.shape)),
    },
    url: parsed.url,
  };
}

/** The same clip, to be written down in English: what is spoken is heard, and there are no times of words. */
export function toTranslation({ request, url }: AskedTranscription): AskedTranscription {
  const { language, granularities } = request;
  if (language) throw untranslatable('language', 'a translation is into English, from whatever is spoken');
  if (granularities.length > 0) throw untranslatable('timestamp_granularities', 'a translation has segments alone');
  return { request: { ...request, task: 'translate' }, url };
}

function untranslatable(param: string, why: string): ApiError {
  return new ApiError('unsupported_parameter', { message: `"${param}": ${why}.`, param });
}

function checkOneClip({ file, url }: z.output<typeof transcriptionSchema>, files: number): void {
  // JSON has no place for a file, but what stands in it was meant as one.
  const named = (file === undefined || file === null ? 0 : 1) + (url === undefined ? 0 : 1);
  if (files + named > 1) throw new ApiError('ambiguous_input', { param: 'file' });
  if (files === 0 && url === undefined) throw new ApiError('missing_file', { param: 'file' });
}
