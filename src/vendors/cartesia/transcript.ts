import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { amountAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { type TimedText, timedText } from '../kit/transcripts.ts';
import { transcriptOfWords } from '../kit/word-transcripts.ts';
import type { Transcript } from '../vendor.ts';

/** The vendor's answer. It has words without what stands between them, and no segments. */
export function transcriptOf(answer: JsonObject): Transcript {
  const text = stringAt(answer, 'text');
  if (text === undefined) throw new UpstreamError('garbled', 'an answer without a text');
  const words = objectsAt(answer, 'words').flatMap((entry) => timedText(entry, 'word') ?? []);
  const { words: spoken, segments } = transcriptOfWords({ text, words: tokensOf(text, words) });
  return {
    text: text.trim(),
    language: languageCode(stringAt(answer, 'language') ?? ''),
    seconds: amountAt(answer, 'duration'),
    ...(spoken !== undefined && { words: spoken, segments }),
  };
}

/** Each word, and before it what the text has between it and the last: not every script is written with spaces. */
function tokensOf(text: string, words: readonly TimedText[]): JsonObject[] {
  let end = 0;
  return words.flatMap((timed) => {
    const word = timed.text.trim();
    const at = text.indexOf(word, end);
    const between = at === -1 ? ' ' : text.slice(end, at);
    if (at !== -1) end = at + word.length;
    const times = { start: timed.start, end: timed.end };
    return [
      { type: 'spacing', text: between, ...times },
      { type: 'word', text: word, ...times },
    ];
  });
}
