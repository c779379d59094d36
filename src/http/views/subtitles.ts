import { spaced } from '../../spaced.ts';
import type { SavedResult } from '../../transcriptions/index.ts';

type Heard = Pick<SavedResult, 'transcript' | 'seconds'>;

/** A transcript as subtitles, one cue for each segment. */
export function subtitlesOf(heard: Heard, format: 'srt' | 'vtt'): string {
  const cues = cuesOf(heard);
  if (format === 'vtt') {
    return ['WEBVTT\n', ...cues.map((cue) => `${timesOf(cue, '.')}\n${withoutMarkup(cue.text)}\n`)].join('\n');
  }
  return cues.map((cue, place) => `${place + 1}\n${timesOf(cue, ',')}\n${cue.text}\n`).join('\n');
}

interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Without segments all of it is one. A line break would end a cue. */
function cuesOf({ transcript: { segments, text }, seconds }: Heard): Cue[] {
  const cues = segments ?? [{ start: 0, end: seconds, text }];
  return cues.map((cue) => ({ start: cue.start, end: cue.end, text: spaced(cue.text.split(/[\r\n]/)) }));
}

function timesOf({ start, end }: Cue, point: '.' | ','): string {
  return `${clockTime(start, point)} --> ${clockTime(end, point)}`;
}

function clockTime(seconds: number, point: '.' | ','): string {
  const all = Math.max(0, Math.round(seconds * 1000));
  const two = (count: number) => String(count).padStart(2, '0');
  const [hours, minutes, rest] = [
    Math.floor(all / 3_600_000),
    Math.floor(all / 60_000) % 60,
    Math.floor(all / 1000) % 60,
  ];
  return `${two(hours)}:${two(minutes)}:${two(rest)}${point}${String(all % 1000).padStart(3, '0')}`;
}

/** What WebVTT takes for markup, or for the times of a cue. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
