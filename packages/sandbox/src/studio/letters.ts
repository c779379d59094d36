import { curve, type Point, polyline, round } from './paths.ts';

/**
 * Letters as strokes, because a machine that runs a server often has no fonts at all and would draw nothing.
 * A glyph is its strokes; a stroke is points of two base-36 digits, x then y: capitals stand on y 12 and reach up to 0,
 * small letters reach up to 4. A stroke that begins with `~` is a curve that bends towards the points between its ends.
 */
const O = '~34646c0c0434';
const ARCH = '~08046468686c';
// biome-ignore format: a table of letters
const GLYPHS: Readonly<Record<string, string>> = {
  A: '0c408c 1878', B: '000c ~0040407076464606 ~065656868c5c5c0c', C: '~8380000c8c89', D: '000c ~003030808c3c3c0c',
  E: '70000c7c 0656', F: '70000c 0656', G: '~8380000c8c86 8646', H: '000c 808c 0686', I: '000c', J: '~60686c3c0c09',
  K: '000c 7007 257c', L: '000c6c', M: '0c0048808c', N: '0c008c80', O: '~40808c0c0040', P: '000c ~0040408087474707',
  Q: '~40808c0c0040 588c', R: '000c ~0040408087474707 478c', S: '~83800006868c0c09', T: '0080 404c',
  U: '~0008080c8c888880', V: '004c80', W: '002c528ca0', X: '008c 800c', Y: '004680 464c', Z: '00800c8c',
  a: `${O} 646c`, b: `000c ${O}`, c: '~6664040c6c6a', d: `${O} 606c`, e: '~08686864040c6c6b', f: '~502024242c 0454',
  g: `${O} ~646d6d6g0g0e`, h: `000c ${ARCH}`, i: '040c 0001', j: '~242d2d2g0g 2021', k: '000c 5409 275c',
  l: '~000a0c2c', m: '040c ~08045458585c ~5854a4a8a8ac', n: `040c ${ARCH}`, o: O, p: `040g ${O}`, q: `646g ${O}`,
  r: '040c ~080444', s: '~65640408686c0c0b', t: '~202a2c5c 0454', u: '~0408080c6c686864 646c', v: '043c64',
  w: '042c548ca4', x: '046c 640c', y: '043c 641g', z: '04640c6c',
  '0': '~30606c0c0030', '1': '02303c', '2': '~030060670c 0c6c', '3': '~0200606626 ~26666c0c0a', '4': '5c500878',
  '5': '601005 ~05656c0c0a', '6': '~35656c0c0535 ~500008', '7': '00602c', '8': '~306066060030 ~36666c0c0636',
  '9': '~306067070030 ~646c1c', '.': '0b0c', ',': '1b0e', '!': '0008 0b0c', '?': '~020060663639 3b3c', ':': '0506 0b0c',
  ';': '1516 1b0e', "'": '0003', '"': '0003 3033', '-': '0757', '+': '0868 353b', '=': '0666 0a6a', '/': '600d',
  '\\': '006d', '(': '~30063d', ')': '~00360d', '[': '30000d3d', ']': '00303d0d', '{': '~40202606 ~06262d4d',
  '}': '~00202646 ~46262d0d', '<': '62076c', '>': '02670c', '*': '3036 0165 6105', '#': '201c 605c 0474 0878',
  '%': '700c 0020220200 5a7a7c5c5a', '&': '~7c13105054080c5c77', '@': '~8880000c7c ~446468282444 6468',
  $: '~83800006868c0c09 404c', _: '0d7d', '^': '033063', '~': '~08056966', '|': '000d', '`': '0022', '·': '0708',
  '×': '066c 660c', '…': '0b0c 3b3c 6b6c',
  // Accents, which stand over a small letter.
  '\u0300': '1032', '\u0301': '3250', '\u0302': '123052', '\u0303': '~12203250', '\u0308': '1112 5152',
  '\u030a': '~304042222030', '\u030c': '103250', '\u0327': '~3c3e1f',
};

// biome-ignore format: a table of letters
const REPLACED: Readonly<Record<string, string>> = {
  '\u2018': "'", '\u2019': "'", '\u201c': '"', '\u201d': '"', '\u2013': '-', '\u2014': '-', ß: 'ss', æ: 'ae', Æ: 'AE',
  ø: 'o', Ø: 'O', œ: 'oe', ł: 'l', Ł: 'L', đ: 'd',
};
const CAPITAL_HEIGHT = 12;
const LINE_HEIGHT = 21;
const GAP = 3;
const BLANK = 3;
const BOX_WIDTH = 10;
const TEXT_CHARS_MAX = 1_000;

interface Sheet {
  readonly x: number;
  readonly y: number;
  /** Of a capital letter. */
  readonly size: number;
  readonly widthMax: number;
  readonly linesMax: number;
  readonly color: string;
}

/** SVG of a text from the given top left corner on, in lines that fit; a text that is too long ends in an ellipsis. */
export function write(text: string, { x, y, size, widthMax, linesMax, color }: Sheet) {
  const scale = size / CAPITAL_HEIGHT;
  const lines = linesOf(drawable(text), widthMax / scale, linesMax);
  const strokes = lines.map((line, row) => strokesOf(line, { x, y: y + row * LINE_HEIGHT * scale, scale }));
  const line = (path: string, thickness: number) =>
    `<path d="${path}" fill="none" stroke="${color}" stroke-width="${round(thickness * scale)}" stroke-linecap="round" stroke-linejoin="round"/>`;
  return {
    svg: line(strokes.map(({ bold }) => bold).join(''), 1.5) + line(strokes.map(({ fine }) => fine).join(''), 0.5),
    height: ((lines.length - 1) * LINE_HEIGHT + CAPITAL_HEIGHT + GAP) * scale,
  };
}

/** Letters with accents become letters and accents. */
function drawable(text: string): string {
  const plain = Array.from(text.slice(0, TEXT_CHARS_MAX), (letter) => REPLACED[letter] ?? letter).join('');
  return plain.normalize('NFKD').replace(/\s+/g, ' ').trim();
}

function linesOf(text: string, widthMax: number, linesMax: number): string[] {
  const lines = [''];
  // A word that no line can hold, or a text without spaces, is cut where the widest letters would end.
  const pieces = new RegExp(`\\S{1,${Math.max(1, Math.floor(widthMax / (BOX_WIDTH + GAP)))}}`, 'gu');
  for (const word of text.match(pieces) ?? []) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (lines.at(-1) === '' || widthOf(longer) <= widthMax) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  if (lines.length <= linesMax) return lines;
  return [...lines.slice(0, linesMax - 1), `${lines[linesMax - 1]?.replace(/.{0,2}$/u, '')}…`];
}

function widthOf(line: string): number {
  return Array.from(line).reduce((sum, letter) => sum + advanceOf(letter), 0);
}

function advanceOf(letter: string): number {
  if (letter === ' ') return BLANK + GAP;
  if (isAccent(letter)) return 0;
  const glyph = GLYPHS[letter];
  return (glyph === undefined ? BOX_WIDTH : Math.max(...pointsOf(glyph).map(([x]) => x))) + GAP;
}

function isAccent(letter: string): boolean {
  return /\p{M}/u.test(letter);
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** The letters of a line, and, finer, what is too small for their stroke. */
function strokesOf(line: string, { x, y, scale }: Place): { bold: string; fine: string } {
  let at = x;
  let [before, isCapital] = [at, false];
  let [bold, fine] = ['', ''];
  for (const letter of line) {
    const glyph = GLYPHS[letter];
    if (isAccent(letter)) {
      bold += drawn(glyph ?? '', { x: before, y: y - (isCapital ? 3.5 * scale : 0), scale });
      continue;
    }
    if (glyph !== undefined) bold += drawn(glyph, { x: at, y, scale });
    else if (letter !== ' ') fine += boxed(letter, { x: at, y, scale });
    [before, isCapital] = [at, /\p{Lu}/u.test(letter)];
    at += advanceOf(letter) * scale;
  }
  return { bold, fine };
}

/** A letter of another script is its number in a box, as browsers show what they have no letter for. */
function boxed(letter: string, { x, y, scale }: Place): string {
  const digits = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const half = Math.ceil(digits.length / 2);
  const step = 9 / half;
  const inside = Array.from(digits, (digit, index) => {
    const [left, top] = [1 + (index % half) * step, 1.5 + Math.floor(index / half) * 5.5];
    return drawn(GLYPHS[digit] ?? '', { x: x + left * scale, y: y + top * scale, scale: (step / 12) * scale });
  });
  return drawn('00a0ac0c00', { x, y, scale }) + inside.join('');
}

function drawn(glyph: string, { x, y, scale }: Place): string {
  const strokes = glyph.split(' ').map((stroke) => {
    const points = pointsOf(stroke).map(([px, py]) => [x + px * scale, y + py * scale] as const);
    return stroke.startsWith('~') ? curve(points) : polyline(points);
  });
  return strokes.join('');
}

function pointsOf(strokes: string): Point[] {
  const digits = Array.from(strokes.replace(/[~ ]/g, ''), (digit) => Number.parseInt(digit, 36));
  return digits.flatMap((x, index) => (index % 2 === 0 ? [[x, digits[index + 1] ?? 0] as const] : []));
}
