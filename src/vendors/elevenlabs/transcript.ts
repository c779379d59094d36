import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { amountAt, isList, isObject, stringAt } from '../kit/json.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../vendor.ts';

/** What was heard: a word, the space behind it, or a sound such as laughter. */
interface Heard {
  readonly kind: string;
  readonly text: string;
  readonly speaker: string | undefined;
  readonly start: number;
  readonly end: number;
}

/** The vendor's answer. Its times are in seconds; it has no segments of its own. */
export function transcriptIn(answer: JsonObject): Transcript {
  const text = stringAt(answer, 'text');
  if (text === undefined && (answer.error ?? answer.detail))
    throw new UpstreamError('garbled', 'an error for an answer');
  const heard = (isList(answer.words) ? answer.words : []).flatMap((item) => heardIn(item) ?? []);
  const words = heard.filter(({ kind }) => kind === 'word').map(toWord);
  return {
    // Without a usable text there is none, and the caller is told so.
    text: text ?? '',
    language: languageIn(stringAt(answer, 'language_code') ?? ''),
    seconds: amountAt(answer, 'audio_duration_secs'),
    // Without times there is nothing to tell.
    ...(words.length > 0 && { words, segments: segmentsOf(heard) }),
  };
}

function heardIn(item: JsonValue): Heard | undefined {
  if (!isObject(item)) return undefined;
  const [kind, text] = [stringAt(item, 'type'), stringAt(item, 'text')];
  const [start, end] = [amountAt(item, 'start'), amountAt(item, 'end')];
  if (kind === undefined || text === undefined || start === undefined || end === undefined) return undefined;
  return { kind, text, speaker: stringAt(item, 'speaker_id'), start, end: Math.max(start, end) };
}

function toWord({ text, start, end }: Heard): TranscriptWord {
  return { word: text, start, end };
}

const PAUSE_SECONDS = 1;
/** With whatever closes behind it. */
const SENTENCE_END = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u;

/** A segment ends with a sentence, before a pause, or where somebody else speaks. */
function segmentsOf(heard: readonly Heard[]): TranscriptSegment[] {
  const segments: { start: number; end: number; text: string }[] = [];
  let last: Heard | undefined;
  for (const item of heard) {
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

function isBorder(last: Heard, next: Heard): boolean {
  const isPause = next.start - last.end >= PAUSE_SECONDS;
  return isPause || last.speaker !== next.speaker || SENTENCE_END.test(last.text);
}

/** The vendor writes three letters, even where there are two. */
function languageIn(code: string): string | undefined {
  try {
    const { language } = new Intl.Locale(code);
    return language === 'und' ? undefined : language;
  } catch {
    return undefined;
  }
}
