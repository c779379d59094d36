const PASSAGE_CHARS_MAX = 240;

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/ ?[\u2013\u2014] ?/g, ', '],
  [/\u2026/g, '...'],
];

/**
 * A text in passages that are spoken one after the other: whole sentences as far as they fit, in the letters that the
 * synthesiser knows. What has neither letter nor digit says nothing and is left out.
 */
export function* passagesOf(text: string): Generator<string> {
  let passage = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
    for (const part of parts(inPlainLetters(segment))) {
      if (passage.length + part.length > PASSAGE_CHARS_MAX) {
        if (isSpeakable(passage)) yield passage.trim();
        passage = '';
      }
      passage += part;
    }
  }
  if (isSpeakable(passage)) yield passage.trim();
}

export function isSpeakable(text: string): boolean {
  return /[a-z0-9]/i.test(inPlainLetters(text));
}

function inPlainLetters(text: string): string {
  let plain = text;
  for (const [sign, replacement] of SIGNS) plain = plain.replace(sign, replacement);
  return plain
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]+/g, ' ');
}

/** A sentence that is too long is parted where a speaker would breathe: behind a comma, else between two words. */
function parts(sentence: string): string[] {
  if (sentence.length <= PASSAGE_CHARS_MAX) return [sentence];
  const most = PASSAGE_CHARS_MAX - 1;
  const breath = new RegExp(`.{1,${most}}[,;:] |.{1,${most}} |.{1,${PASSAGE_CHARS_MAX}}`, 'g');
  return sentence.match(breath) ?? [];
}
