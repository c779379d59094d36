export const DIMENSIONS_MIN = 16;
export const DIMENSIONS_MAX = 1_024;

/**
 * A vector of length one for a text, by feature hashing: its words, and the runs of three and four letters in them, each
 * add to a few places of the vector that their hash decides, with a sign. Texts that share words are near each other
 * whatever their order and case, and a misspelt word still shares most of its runs.
 */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const sums = new Float64Array(DIMENSIONS_MAX);
  for (const [feature, weight] of weightsOf(text)) addFeature(sums, feature, weight);
  return normalized(sums.subarray(0, dimensions));
}

/**
 * One place in each of the ranges 0-16, 16-32, 32-64 … 512-1024, so that every beginning of the vector knows every feature
 * and a shorter vector keeps its neighbours (as Matryoshka representations do). A range counts by its size: the
 * larger it is, the fewer features share a place.
 */
function addFeature(sums: Float64Array, feature: string, weight: number): void {
  let hash = hashOf(feature);
  for (let start = 0, end = DIMENSIONS_MIN; end <= DIMENSIONS_MAX; start = end, end *= 2) {
    hash = mixed(hash + end);
    const place = start + ((hash >>> 1) % (end - start));
    sums[place] = (sums[place] ?? 0) + (hash & 1 ? weight : -weight) * Math.sqrt(end - start);
  }
}

const WORD_WEIGHT = 2;
/** Of all runs of letters of a word together. */
const RUNS_WEIGHT = 2;
/** Words that tell how a sentence is built and not what it is about. */
const COMMON_WEIGHT = 0.15;
const COMMON = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its ' +
    'me my no not of on or our she should so some than that the their them then there these they this to was we were ' +
    'what when where which who why will with would you your'
  ).split(' '),
);

/** Sublinear: what is said ten times counts three times as much as what is said once. */
function weightsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const words = wordsOf(text);
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weights = new Map<string, number>();
  const add = (feature: string, weight: number) => weights.set(feature, (weights.get(feature) ?? 0) + weight);
  for (const [word, count] of counts) {
    const weight = (1 + Math.log(count)) * (COMMON.has(word) ? COMMON_WEIGHT : 1);
    add(`=${word}`, weight * WORD_WEIGHT);
    const runs = runsOf(word);
    for (const run of runs) add(run, (weight * RUNS_WEIGHT) / Math.sqrt(runs.length));
  }
  return weights;
}

/** Words without case and accents; of scripts that are written without spaces each letter is one. A text without any is its signs. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  const words = plain.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[\p{L}\p{N}]+/gu);
  return words ?? Array.from(plain);
}

/** Three and four letters in a row, the begin and the end of the word counted as letters. */
function runsOf(word: string): readonly string[] {
  const letters = Array.from(`^${word}$`);
  const runs: string[] = [];
  for (const length of [3, 4]) {
    for (let at = 0; at + length <= letters.length; at++) runs.push(letters.slice(at, at + length).join(''));
  }
  return runs;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit of the number. */
function mixed(number: number): number {
  let hash = number;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function normalized(sums: Float64Array): Float32Array {
  let squares = 0;
  for (const sum of sums) squares += sum * sum;
  const length = Math.sqrt(squares);
  // Signs may cancel out; then any one direction is as good as another.
  if (length === 0) return Float32Array.from(sums, (_, at) => (at === 0 ? 1 : 0));
  return Float32Array.from(sums, (sum) => sum / length);
}
