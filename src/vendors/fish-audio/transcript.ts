import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { spaced } from '../../spaced.ts';
import { amountAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { type TimedText, timedText } from '../kit/transcripts.ts';
import type { Transcript } from '../vendor.ts';

/** Who speaks, between the words. */
const SPEAKER = /<\|speaker:\d+\|>/;

/** The vendor's answer to a recording of so many seconds. Its times are in seconds. */
export function transcriptOf(answer: JsonObject, measuredSeconds: number): Transcript {
  const text = stringAt(answer, 'text');
  if (text === undefined) throw new UpstreamError('garbled', 'an answer without a text');
  const timed = objectsAt(answer, 'segments').flatMap((entry) => timedText(entry, 'text') ?? []);
  const turns = objectsAt(answer, 'speaker_turns').flatMap((entry) => timedText(entry, 'text') ?? []);
  const areWords = timed.every((each) => !/\S\s+\S/.test(each.text));
  const language = stringAt(answer, 'language_code') ?? stringAt(answer, 'language');
  return {
    text: spaced(text.split(SPEAKER)),
    language: language === undefined ? undefined : languageCode(language),
    seconds: secondsIn(amountAt(answer, 'duration'), measuredSeconds),
    // Without times there is nothing to tell.
    ...(timed.length > 0 && areWords && { words: timed.map(({ text: word, start, end }) => ({ word, start, end })) }),
    ...(timed.length + turns.length > 0 && { segments: segmentsOf(turns, timed, areWords) }),
  };
}

/** One of the vendor's libraries takes it for milliseconds, so what would be far too long is. */
function secondsIn(duration: number | undefined, measuredSeconds: number): number | undefined {
  const isMilliseconds = duration !== undefined && duration > 100 * Math.max(measuredSeconds, 1);
  return isMilliseconds ? duration / 1000 : duration;
}

function segmentsOf(turns: readonly TimedText[], timed: readonly TimedText[], areWords: boolean): TimedText[] {
  if (turns.length > 0) return [...turns];
  return areWords ? joinWords(timed) : [...timed];
}

const PAUSE_SECONDS = 1;

/** Words have no stops here, so a segment ends before a pause. */
function joinWords(words: readonly TimedText[]): TimedText[] {
  const segments: { text: string; start: number; end: number }[] = [];
  for (const { text, start, end } of words) {
    const last = segments.at(-1);
    if (last === undefined || start - last.end >= PAUSE_SECONDS) segments.push({ text, start, end });
    else {
      last.text += isSpaced(last.text, text) ? ` ${text}` : text;
      last.end = Math.max(last.end, end);
    }
  }
  return segments;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Between letters of scripts that are written without spaces there is none. */
function isSpaced(before: string, after: string): boolean {
  return !UNSPACED.test(before.at(-1) ?? '') || !UNSPACED.test(after.charAt(0));
}
