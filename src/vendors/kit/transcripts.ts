import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { TRANSCRIPT_VALUES_MAX } from '../../limits.ts';
import type { UpstreamReply } from './exchange.ts';
import { parseObject, readBytes } from './http.ts';
import { amountAt, itemsAt, stringAt } from './json.ts';

/** What servers answer in place of a transcript when they have heard nothing. */
const NOTHING: readonly string[] = ['', 'null', '""'];

/**
 * The answer to a transcription as a JSON object. One that says nothing at all is an empty object: it has no text, and
 * that is what its caller is told. Undefined for what is no JSON object; throws UpstreamError for one out of bounds.
 */
export function parseTranscript(text: string): JsonObject | undefined {
  return NOTHING.includes(text.trim()) ? {} : parseObject(text, TRANSCRIPT_VALUES_MAX);
}

/** The same for vendors that answer with JSON only. */
export async function readTranscript(reply: UpstreamReply): Promise<JsonObject> {
  const value = parseTranscript((await readBytes(reply)).toString('utf8'));
  if (value === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
  return value;
}

export interface TimedText {
  readonly text: string;
  /** In seconds, as all times here. */
  readonly start: number;
  readonly end: number;
}

/** A word or sentence with its times, of which so many units are a second. Undefined for what lacks one of the three. */
export function timedText(entry: JsonObject, key: string, unitsPerSecond = 1): TimedText | undefined {
  const [text, start, end] = [stringAt(entry, key), amountAt(entry, 'start'), amountAt(entry, 'end')];
  if (text === undefined || start === undefined || end === undefined) return undefined;
  return { text, start: start / unitsPerSecond, end: end / unitsPerSecond };
}

/** A chunk with its times in a pair. The last one of a recording may lack its end. */
export function timedChunk(chunk: JsonObject): TimedText | undefined {
  const [start, end] = itemsAt(chunk, 'timestamp');
  const text = stringAt(chunk, 'text');
  if (text === undefined || typeof start !== 'number') return undefined;
  return { text, start, end: typeof end === 'number' ? Math.max(start, end) : start };
}
