import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import { amountAt, isObject, listAt, stringAt } from '../kit/json.ts';
import type { Failed, Transcribed, Transcript, TranscriptSegment } from '../vendor.ts';
import { failedFor, textOf } from './faults.ts';
import { toIsoCode } from './languages.ts';

/** What a task says of itself. */
export function verdictOn(told: JsonObject): { readonly state: 'running' } | Transcribed | Failed {
  const status = stringAt(told, 'status') ?? '';
  switch (status) {
    case 'queued':
    case 'processing':
      return { state: 'running' };
    case 'completed':
      return { state: 'transcribed', transcript: transcriptOf(told) };
    case 'error':
      return failedFor(textOf(told).slice(0, UPSTREAM_ERROR_BYTES_MAX));
    default:
      throw new UpstreamError('garbled', `unknown status "${status}"`);
  }
}

function transcriptOf(told: JsonObject): Transcript {
  const language = stringAt(told, 'language_code');
  return {
    // A recording without speech has null, or nothing, in the place of a text.
    text: stringAt(told, 'text') ?? '',
    language: language === undefined ? undefined : toIsoCode(language),
    seconds: amountAt(told, 'audio_duration'),
    words: timedIn(told, 'words')?.map(({ text: word, start, end }) => ({ word, start, end })),
  };
}

/** The sentences of a transcript. */
export function segmentsIn(told: JsonObject): readonly TranscriptSegment[] | undefined {
  return timedIn(told, 'sentences');
}

/** Times are told in milliseconds. What lacks one of them, or its text, is left out. */
function timedIn(told: JsonObject, key: string): { start: number; end: number; text: string }[] | undefined {
  return listAt(told, key)?.flatMap((value) => {
    if (!isObject(value)) return [];
    const [start, end, text] = [amountAt(value, 'start'), amountAt(value, 'end'), stringAt(value, 'text')];
    if (start === undefined || end === undefined || text === undefined) return [];
    return [{ start: start / 1000, end: end / 1000, text }];
  });
}
