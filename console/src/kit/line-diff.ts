/** One line of a comparison; a gap stands for lines that are the same on both sides. */
export type DiffLine =
  | { readonly kind: 'same'; readonly text: string; readonly before: number; readonly after: number }
  | { readonly kind: 'removed'; readonly text: string; readonly before: number }
  | { readonly kind: 'added'; readonly text: string; readonly after: number }
  | { readonly kind: 'gap'; readonly count: number; readonly before: number };

/** Above this the middle is shown as replaced: the table of the longest common subsequence would not fit. */
const CELLS_MAX = 4_000_000;
const CONTEXT_LINES = 3;

/** What became of each line: by the longest common subsequence of what lies between the equal ends. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const same = (from: number, count: number, shift: number): DiffLine[] =>
    old.slice(from, from + count).map((text, index) => ({
      kind: 'same',
      text,
      before: from + index + 1,
      after: from + index + 1 + shift,
    }));
  return [
    ...same(0, start, 0),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end), start),
    ...same(old.length - end, end, now.length - old.length),
  ];
}

function middle(old: readonly string[], now: readonly string[], start: number): readonly DiffLine[] {
  const width = now.length + 1;
  const isTooLarge = (old.length + 1) * width > CELLS_MAX;
  const common = isTooLarge ? new Uint32Array(0) : commonLengths(old, now);
  const lengthAt = (i: number, j: number) => common[i * width + j] ?? 0;
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    const [was, is] = [old[i], now[j]];
    if (!isTooLarge && was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was, before: start + ++i, after: start + ++j });
    } else if (was !== undefined && (is === undefined || isTooLarge || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ kind: 'removed', text: was, before: start + ++i });
    } else if (is !== undefined) {
      lines.push({ kind: 'added', text: is, after: start + ++j });
    }
  }
  return lines;
}

/** How long the longest common subsequence of the rest is, for every pair of places. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === now[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  return lengths;
}

/** Leaves a few equal lines around each change, and a gap for the others. */
export function withGaps(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map((_line, index) =>
    lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear[index]) shown.push(line);
    else if (last?.kind === 'gap') shown[shown.length - 1] = { ...last, count: last.count + 1 };
    else shown.push({ kind: 'gap', count: 1, before: 'before' in line ? line.before : 0 });
  }
  return shown;
}
