import { applyEdits, type Edit } from './edit-text.ts';

const CONTEXT_LINES = 3;

/** Lines of the old text from `first` up to but without `end`, and what stands in their place. */
interface Block {
  readonly first: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** What edits change in a text, as `diff -u` shows it. The edits must be in order and must not overlap. */
export function unifiedDiff(name: string, text: string, edits: readonly Edit[]): readonly string[] {
  const lines = text.split('\n');
  const blocks = blocksOf(text, lines, edits);
  const shown = [`--- ${name}`, `+++ ${name}`];
  let shift = 0;
  for (const hunk of hunksOf(blocks)) {
    const from = Math.max(0, (hunk[0]?.first ?? 0) - CONTEXT_LINES);
    const end = hunk.at(-1)?.end ?? 0;
    const to = Math.max(end, Math.min(countLines(text), end + CONTEXT_LINES));
    const added = hunk.reduce((sum, block) => sum + block.lines.length - (block.end - block.first), 0);
    shown.push(
      `@@ -${from + 1},${to - from} +${from + shift + 1},${to - from + added} @@`,
      ...hunkLines(lines, hunk, from, to),
    );
    shift += added;
  }
  return shown;
}

function hunkLines(lines: readonly string[], hunk: readonly Block[], from: number, to: number): readonly string[] {
  const body: string[] = [];
  let next = from;
  for (const { first, end, lines: newLines } of hunk) {
    body.push(...lines.slice(next, first).map((line) => ` ${line}`));
    body.push(...lines.slice(first, end).map((line) => `-${line}`), ...newLines.map((line) => `+${line}`));
    next = end;
  }
  return [...body, ...lines.slice(next, to).map((line) => ` ${line}`)];
}

/** Edits of the same line, or of lines below one another, are one block. */
function blocksOf(text: string, lines: readonly string[], edits: readonly Edit[]): readonly Block[] {
  const starts = lineStarts(lines);
  const lineOf = (offset: number) => starts.findLastIndex((start) => start <= offset);
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1);
    const reach = /^\r?\n/.test(edit.text) ? 0 : 1;
    if (last !== undefined && lineOf(edit.start) - lineOf(last.end) <= reach) groups.at(-1)?.push(edit);
    else groups.push([edit]);
  }
  return groups.map((group) => {
    const [first, last] = [lineOf(group[0]?.start ?? 0), lineOf(group.at(-1)?.end ?? 0)];
    const offset = starts[first] ?? 0;
    const end = (starts[last] ?? 0) + (lines[last]?.length ?? 0);
    const moved = group.map((edit) => ({ ...edit, start: edit.start - offset, end: edit.end - offset }));
    return withoutSameStart(lines, {
      first,
      end: last + 1,
      lines: applyEdits(text.slice(offset, end), moved).split('\n'),
    });
  });
}

/** A line behind which another is put stays as it was. */
function withoutSameStart(before: readonly string[], { first, end, lines }: Block): Block {
  const isFirstSame = before[first] === lines[0];
  return isFirstSame ? { first: first + 1, end, lines: lines.slice(1) } : { first, end, lines };
}

/** What follows the last line feed is a line only where there is something. */
function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function lineStarts(lines: readonly string[]): readonly number[] {
  let offset = 0;
  return lines.map((line) => {
    const start = offset;
    offset += line.length + 1;
    return start;
  });
}

/** Blocks whose context would touch are shown together. */
function hunksOf(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const hunks: Block[][] = [];
  for (const block of blocks) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && block.first - last.end <= 2 * CONTEXT_LINES) hunks.at(-1)?.push(block);
    else hunks.push([block]);
  }
  return hunks;
}
