import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../vendor.ts';
import { amountAt, objectsAt, stringAt } from './json.ts';
import { languageCode } from './languages.ts';
import { type TimedText, timedText } from './transcripts.ts';

/** A word, the space behind it, or a sound such as laughter. */
interface Token extends TimedText {
  readonly kind: string;
  readonly speaker: string | undefined;
}

/** The vendor's answer. Its times are in seconds; it has no segments of its own. */
export function transcriptOfWords(answer: JsonObject): Transcript {
  const text = stringAt(answer, 'text');
  if (text === undefined && (answer.error ?? answer.detail)) {
    throw new UpstreamError('garbled', 'an error for an answer');
  }
  const tokens = objectsAt(answer, 'words').flatMap((entry) => toToken(entry) ?? []);
  const words = tokens.filter(({ kind }) => kind === 'word').map(toWord);
  return {
    // Without a usable text there is none, and the caller is told so.
    text: text ?? '',
    language: languageCode(stringAt(answer, 'language_code') ?? ''),
    seconds: amountAt(answer, 'audio_duration_secs'),
    // Without times there is nothing to tell.
    ...(words.length > 0 && { words, segments: segmentsOf(tokens) }),
  };
}

function toToken(entry: JsonObject): Token | undefined {
  const [kind, timed] = [stringAt(entry, 'type'), timedText(entry, 'text')];
  if (kind === undefined || timed === undefined) return undefined;
  return { ...timed, end: Math.max(timed.start, timed.end), kind, speaker: stringAt(entry, 'speaker_id') };
}

function toWord({ text, start, end }: Token): TranscriptWord {
  return { word: text, start, end };
}

const PAUSE_SECONDS = 1;
/** With whatever closes behind it. */
const SENTENCE_END = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u;

/** A segment ends with a sentence, before a pause, or at a change of speaker. */
function segmentsOf(tokens: readonly Token[]): TranscriptSegment[] {
  const segments: { start: number; end: number; text: string }[] = [];
  let last: Token | undefined;
  for (const item of tokens) {
    const segment = segments.at(-1);
    if (item.kind === 'spacing') {
      if (segment !== undefined) segment.text += item.text;
    } else if (segment === undefined || last === undefined || isBorder(last, item)) {
      segments.push({ start: item.start, end: item.end, text: item.text });
      last = item;
    } else {
      segment.text += item.text;
      segment.end = Math.max(segment.end, item.end);
      last = item;
    }
  }
  return segments.map(({ start, end, text }) => ({ start, end, text: text.trim() }));
}

function isBorder(last: Token, next: Token): boolean {
  const isPause = next.start - last.end >= PAUSE_SECONDS;
  return isPause || last.speaker !== next.speaker || SENTENCE_END.test(last.text);
}
