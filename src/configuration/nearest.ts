/** `. Did you mean "x"?` for the known word that is closest to a mistyped one, or nothing when none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const close = known
    .slice(0, KNOWN_MAX)
    .map((candidate) => ({ candidate, distance: editDistance(word.slice(0, CHARS_MAX), candidate) }))
    .filter(({ candidate, distance }) => distance <= DISTANCE_MAX && distance < candidate.length / 2)
    .sort((left, right) => left.distance - right.distance)[0];
  return close === undefined ? '' : `. Did you mean "${close.candidate}"?`;
}

/** A document may be wrong in thousands of places, each asking among thousands of names. */
const KNOWN_MAX = 100;
const CHARS_MAX = 100;
const DISTANCE_MAX = 2;

function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > DISTANCE_MAX) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let at = 0; at < left.length; at++) row = nextRow(row, left.charAt(at), right);
  return row[right.length] ?? Number.POSITIVE_INFINITY;
}

function nextRow(above: readonly number[], char: string, right: string): number[] {
  const row = [(above[0] ?? 0) + 1];
  for (let at = 1; at <= right.length; at++) {
    const replaced = (above[at - 1] ?? 0) + (right[at - 1] === char ? 0 : 1);
    row.push(Math.min(replaced, (above[at] ?? 0) + 1, (row[at - 1] ?? 0) + 1));
  }
  return row;
}
