import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { ERROR_TABLE, type ErrorCode, errorEnvelope } from '../../errors.ts';
import type { ListedTranscription, SavedResult, TranscriptionRecord } from '../../transcriptions/index.ts';
import { errorSchema } from './error.ts';

/** Transcripts and their records in wire shape. */

const unix = z.int().describe('Unix seconds.');
const seconds = z.number().describe('Seconds from the beginning.');

const segmentSchema = z.strictObject({
  id: z.int(),
  seek: z.int(),
  start: seconds,
  end: seconds,
  text: z.string(),
  tokens: z.array(z.int()),
  temperature: z.number(),
  avg_logprob: z.number(),
  compression_ratio: z.number(),
  no_speech_prob: z.number(),
});

const timesShape = {
  segments: z.array(segmentSchema).optional(),
  words: z.array(z.strictObject({ word: z.string(), start: seconds, end: seconds })).optional(),
  estimated_times: z.literal(true).optional().describe('The times are reckoned from the text, not heard.'),
};

const usageSchema = z.strictObject({
  type: z.literal('duration'),
  seconds: z.number(),
  audio_seconds: z.number().describe('The same as `seconds`.'),
  credits: z.number(),
});

const language = z.string().nullable().describe('An ISO code: as heard, else as given; null where neither is known.');

export const transcriptionSchema = z
  .strictObject({
    task: z.enum(['transcribe', 'translate']).optional(),
    language: language.optional(),
    duration: z.number().optional(),
    text: z.string(),
    ...timesShape,
    usage: usageSchema,
  })
  .meta({ id: 'Transcription' });

type TranscriptionView = z.infer<typeof transcriptionSchema>;

/** All of it for `verbose_json`, with the granularities that were asked for: segments by default. */
export function transcriptionView(result: SavedResult): TranscriptionView {
  const { task = 'transcribe', responseFormat, granularities } = result.wanted;
  const { text } = result.transcript;
  const usage = transcriptionUsageView(result);
  if (responseFormat !== 'verbose_json') return { text, usage };
  const { segments, words, estimated_times } = timesView(result);
  const wantsSegments = granularities.length === 0 || granularities.includes('segment');
  return {
    task,
    ...heardView(result),
    text,
    ...(wantsSegments && segments !== undefined && { segments }),
    ...(granularities.includes('word') && words !== undefined && { words }),
    ...(estimated_times && { estimated_times }),
    usage,
  };
}

function heardView({ transcript, wanted, seconds: duration }: SavedResult) {
  // Servers differ in whether they tell what was spoken or what they wrote.
  if (wanted.task === 'translate') return { language: 'en', duration };
  return { language: transcript.language ?? wanted.language ?? null, duration };
}

/** What client libraries expect of a segment and no upstream tells has the value that says nothing. */
function timesView({ transcript, wanted }: SavedResult) {
  const { segments, words, hasEstimatedTimes } = transcript;
  const unknown = { seek: 0, tokens: [], avg_logprob: 0, compression_ratio: 0 };
  return {
    segments: segments?.map(({ start, end, text, noSpeechProbability = 0 }, id) => ({
      id,
      start,
      end,
      text,
      ...unknown,
      temperature: wanted.temperature ?? 0,
      no_speech_prob: noSpeechProbability,
    })),
    words: words?.map(({ word, start, end }) => ({ word, start, end })),
    ...(hasEstimatedTimes === true && { estimated_times: true as const }),
  };
}

function transcriptionUsageView({ seconds: length, charged }: SavedResult): z.infer<typeof usageSchema> {
  return { type: 'duration', seconds: length, audio_seconds: length, credits: creditsToNumber(charged) };
}

const resultSchema = z.strictObject({
  text: z.string(),
  language,
  duration: z.number(),
  ...timesShape,
  usage: usageSchema,
});

const recordShape = {
  id: z.string().regex(/^req_/),
  object: z.literal('audio.transcription'),
  model: z.string(),
  settlement_state: z.enum(['pending', 'unknown', 'settled', 'released']),
  created_at: unix,
  completed_at: unix.optional(),
  expires_at: unix.optional().describe('Absent where results are kept for ever.'),
};

export const openRecordSchema = z
  .strictObject({ ...recordShape, status: z.enum(['pending', 'processing']) })
  .meta({ id: 'OpenTranscriptionRecord' });

export const endedRecordSchema = z
  .strictObject({
    ...recordShape,
    status: z.enum(['completed', 'failed', 'unavailable']),
    result: resultSchema.optional(),
    error: errorSchema.shape.error.optional().describe('Why there is no result.'),
  })
  .meta({ id: 'TranscriptionRecord' });

export const expiredRecordSchema = z
  .strictObject({ ...recordShape, status: z.literal('expired'), error: errorSchema.shape.error })
  .meta({ id: 'ExpiredTranscriptionRecord' });

export const listedRecordSchema = z
  .strictObject({
    ...recordShape,
    status: z.enum(['pending', 'processing', 'completed', 'failed', 'unavailable', 'expired']),
    seconds: z.number().describe('How long the clip is.'),
    usage: z.strictObject({ credits: z.number() }).optional().describe('What it cost, once it has ended.'),
    error: errorSchema.shape.error.optional().describe('Why there is no result.'),
  })
  .meta({ id: 'ListedTranscription' });

export function recordView(record: TranscriptionRecord) {
  const { result } = record;
  return { ...headView(record), ...(result !== null && { result: resultView(result) }), ...errorView(record) };
}

export function listedRecordView(record: ListedTranscription): z.infer<typeof listedRecordSchema> {
  const { charged, seconds: length } = record;
  return {
    ...headView(record),
    seconds: length,
    ...(charged === null ? {} : { usage: { credits: creditsToNumber(charged) } }),
    ...errorView(record),
  };
}

function headView(record: Omit<TranscriptionRecord, 'result'>) {
  return {
    id: record.id,
    object: 'audio.transcription' as const,
    model: record.model,
    status: record.status,
    settlement_state: record.settlementState,
    created_at: unixSeconds(record.createdAt),
    ...(record.completedAt === null ? {} : { completed_at: unixSeconds(record.completedAt) }),
    ...(record.expiresAt === null ? {} : { expires_at: unixSeconds(record.expiresAt) }),
  };
}

function resultView(result: SavedResult): z.infer<typeof resultSchema> {
  const { segments, words, ...rest } = timesView(result);
  return {
    text: result.transcript.text,
    ...heardView(result),
    ...(segments && { segments }),
    ...(words && { words }),
    ...rest,
    usage: transcriptionUsageView(result),
  };
}

function errorView({ status, errorCode }: Pick<TranscriptionRecord, 'status' | 'errorCode'>) {
  const code: ErrorCode | null = status === 'expired' ? 'transcription_expired' : errorCode;
  return code === null ? {} : errorEnvelope(code, ERROR_TABLE[code][1]);
}
