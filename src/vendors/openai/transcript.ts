import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { readBytes, type UpstreamReply } from '../kit/http.ts';
import { amountAt, isObject, listAt, objectAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { parseTranscript } from '../kit/transcripts.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../vendor.ts';
import { throwIfError } from './faults.ts';

/** Brief and verbose answers, under whatever content type; some servers answer with nothing but the text. */
export async function transcriptIn(reply: UpstreamReply): Promise<Transcript> {
  const text = (await readBytes(reply)).toString('utf8');
  const told = parseTranscript(text);
  if (told !== undefined) return transcriptOf(told);
  const isText = String(reply.headers['content-type'] ?? '').startsWith('text/plain');
  if (!isText) throw new UpstreamError('garbled', 'the answer is neither JSON nor text');
  return { text: text.trimEnd() };
}

function transcriptOf(told: JsonObject): Transcript {
  throwIfError(told);
  const language = stringAt(told, 'language') ?? firstCode(told);
  return {
    // Without a usable text there is none, and the caller is told so.
    text: stringAt(told, 'text') ?? '',
    language: language === undefined ? undefined : languageCode(language),
    seconds: amountAt(told, 'duration') ?? amountAt(objectAt(told, 'usage'), 'seconds'),
    segments: listAt(told, 'segments')?.flatMap(segmentOf),
    words: listAt(told, 'words')?.flatMap(wordOf),
  };
}

/** A newer model lists every language that it heard. */
function firstCode(told: JsonObject): string | undefined {
  const [first] = listAt(told, 'languages') ?? [];
  return isObject(first) ? stringAt(first, 'code') : undefined;
}

function segmentOf(value: JsonValue): TranscriptSegment[] {
  const timed = timedIn(value, 'text');
  if (timed === undefined || !isObject(value)) return [];
  const { text, start, end } = timed;
  const probability = value.no_speech_prob;
  return [{ start, end, text, noSpeechProbability: typeof probability === 'number' ? probability : undefined }];
}

function wordOf(value: JsonValue): TranscriptWord[] {
  const timed = timedIn(value, 'word') ?? timedIn(value, 'text');
  return timed === undefined ? [] : [{ word: timed.text, start: timed.start, end: timed.end }];
}

/** Undefined for what lacks its text or one of its times. */
function timedIn(value: JsonValue, key: string): { text: string; start: number; end: number } | undefined {
  if (!isObject(value)) return undefined;
  const [text, start, end] = [stringAt(value, key), amountAt(value, 'start'), amountAt(value, 'end')];
  return text === undefined || start === undefined || end === undefined ? undefined : { text, start, end };
}
