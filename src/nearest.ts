/** `. Did you mean "x"?` for the known word that is closest to a mistyped one, or nothing when none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const close = nearest(word, known);
  return close === undefined ? '' : `. Did you mean "${close}"?`;
}

/** The known word that is at most two letters away from a mistyped one, capitals apart. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const target = word.slice(0, CHARS_MAX).toLowerCase();
  const alike = known.filter((each) => Math.abs(each.length - target.length) <= DISTANCE_MAX).slice(0, KNOWN_MAX);
  let best: string | undefined;
  let bestDistance = DISTANCE_MAX + 1;
  for (const candidate of alike) {
    const distance = editDistance(target, candidate.toLowerCase());
    if (distance < bestDistance && distance < candidate.length / 2) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** A document may be wrong in thousands of places, each asking among thousands of names. */
const KNOWN_MAX = 100;
const CHARS_MAX = 100;
const DISTANCE_MAX = 2;

/** Letters that were changed, left out, added or swapped with their neighbour. */
function editDistance(left: string, right: string): number {
  let above: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let at = 0; at < left.length; at++) {
    const next = nextRow(row, left.charAt(at), right);
    for (let place = 2; at > 0 && place <= right.length; place++) {
      const isSwapped = right[place - 1] === left[at - 1] && right[place - 2] === left[at];
      if (isSwapped) next[place] = Math.min(next[place] ?? 0, (above[place - 2] ?? 0) + 1);
    }
    [above, row] = [row, next];
    // What is to come is never less than the least of two rows.
    if (Math.min(...above, ...row) > DISTANCE_MAX) return Number.POSITIVE_INFINITY;
  }
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
