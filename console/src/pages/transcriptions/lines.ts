import type { Transcription } from '../../api/schema.ts';

/** What was said between two moments, word by word where the times of words are known. */
export interface Line {
  readonly start: number;
  readonly end: number;
  readonly words: readonly Word[];
}

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

type Times = Pick<Transcription, 'segments' | 'words'>;

/** Empty where no times are known. */
export function linesOf({ segments = [], words = [] }: Times): readonly Line[] {
  const spoken = words.map(({ word, start, end }) => ({ text: word.trim(), start, end }));
  const [first, last] = [spoken[0], spoken.at(-1)];
  if (segments.length === 0) {
    return first === undefined || last === undefined ? [] : [{ start: first.start, end: last.end, words: spoken }];
  }
  return segments.map(({ start, end, text }, index) => {
    const until = segments[index + 1]?.start ?? Number.POSITIVE_INFINITY;
    const from = index === 0 ? Number.NEGATIVE_INFINITY : start;
    const own = spoken.filter((word) => word.start >= from && word.start < until);
    return { start, end, words: own.length > 0 ? own : [{ text: text.trim(), start, end }] };
  });
}

export function subRip(lines: readonly Line[]): string {
  const blocks = lines.map((line, index) => `${index + 1}\n${spanOf(line, ',')}\n${textOf(line)}\n`);
  return blocks.join('\n');
}

export function webVtt(lines: readonly Line[]): string {
  return `WEBVTT\n\n${lines.map((line) => `${spanOf(line, '.')}\n${textOf(line)}\n`).join('\n')}`;
}

function textOf({ words }: Line): string {
  return words.map(({ text }) => text).join(' ');
}

function spanOf({ start, end }: Line, point: ',' | '.'): string {
  return `${stamp(start, point)} --> ${stamp(end, point)}`;
}

function stamp(seconds: number, point: ',' | '.'): string {
  const ms = Math.round(seconds * 1000);
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}${point}${String(ms % 1000).padStart(3, '0')}`;
}

/** Minutes and seconds, for reading. */
export function clockText(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
