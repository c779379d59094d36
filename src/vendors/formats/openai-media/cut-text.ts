import { countCharacters } from '../../../text/index.ts';

const GRAINS = ['sentence', 'word', 'grapheme'] as const;

/** A text in pieces of at most so many characters that together are all of it, cut behind sentences where it can be. */
export function cutText(text: string, charsMax: number): string[] {
  return cut(text.trim(), charsMax, GRAINS);
}

function cut(text: string, charsMax: number, [grain, ...finer]: readonly (typeof GRAINS)[number][]): string[] {
  const pieces: string[] = [];
  let [piece, pieceChars] = ['', 0];
  for (const segment of grain === undefined ? text : segmentsOf(text, grain)) {
    const chars = countCharacters(segment);
    if (pieceChars + chars > charsMax && piece !== '') {
      pieces.push(piece);
      [piece, pieceChars] = ['', 0];
    }
    const parts = chars > charsMax ? cut(segment, charsMax, finer) : [segment];
    const last = parts.pop() ?? '';
    pieces.push(...parts);
    [piece, pieceChars] = [piece + last, pieceChars + countCharacters(last)];
  }
  return piece === '' ? pieces : [...pieces, piece];
}

function* segmentsOf(text: string, granularity: (typeof GRAINS)[number]): Iterable<string> {
  for (const { segment } of new Intl.Segmenter('und', { granularity }).segment(text)) yield segment;
}
