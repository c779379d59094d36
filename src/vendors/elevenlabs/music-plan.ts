import type { SoundRequest } from '../../schemas/index.ts';
import { countCharacters } from '../../text/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { WireValue } from '../kit/wire.ts';
import type { Media } from '../vendor.ts';

interface Section {
  /** Out of a line such as `[Chorus]`. */
  readonly name: string;
  readonly lines: readonly string[];
}

const SONG_MS_MAX = 600_000;
const SECTION_MS = { min: 3_000, max: 120_000 };
const SECTION_LINES_MAX = 30;
const LINE_CHARS_MAX = 200;
/** How long a line is sung where no length was asked for. */
const LINE_MS = 4_000;

/** The vendor has no field for lyrics: they stand in a plan of sections, each with its own length. Throws ApiError. */
export function planOf(lyrics: string, styles: string, request: SoundRequest<Media>, model: string): WireValue {
  const sections = sectionsOf(lyrics);
  if (sections.length === 0) throw unsupported('lyrics', { atLeast: 1, unit: 'line' });
  const lengths = lengthsOf(sections, request.durationSeconds);
  return model.startsWith('music_v1')
    ? planOfSections(sections, lengths, styles)
    : planOfChunks(sections, lengths, styles);
}

/** For the first generation of models. */
function planOfSections(sections: readonly Section[], lengths: readonly number[], styles: string): WireValue {
  return {
    positive_global_styles: stylesIn(styles),
    negative_global_styles: [],
    sections: sections.map(({ name, lines }, at) => ({
      section_name: name,
      positive_local_styles: [],
      negative_local_styles: [],
      duration_ms: lengths[at],
      lines,
    })),
  };
}

function planOfChunks(sections: readonly Section[], lengths: readonly number[], styles: string): WireValue {
  return {
    chunks: sections.map(({ name, lines }, at) => ({
      text: [`[${name}]`, ...lines].join('\n'),
      duration_ms: lengths[at],
      positive_styles: stylesIn(styles),
      negative_styles: [],
    })),
  };
}

function stylesIn(words: string): string[] {
  const styles = words.split(/[,;\n]/).map((style) => style.trim());
  return styles.filter((style) => style !== '');
}

const HEADING = /^\[([^\]]{1,100})\]$/;

/** A section ends at an empty line, before a heading in brackets, and where it is as long as one may be. */
function sectionsOf(lyrics: string): Section[] {
  const sections: { name: string; lines: string[] }[] = [];
  let isOpen = false;
  for (const line of lyrics.split(/\r?\n/).map((each) => each.trim())) {
    const heading = HEADING.exec(line)?.[1]?.trim();
    const last = sections.at(-1);
    if (heading) {
      sections.push({ name: heading, lines: [] });
      isOpen = true;
    } else if (line === '') {
      // Right behind a heading it ends nothing.
      isOpen = isOpen && last?.lines.length === 0;
    } else {
      if (countCharacters(line) > LINE_CHARS_MAX)
        throw unsupported('lyrics', { atMost: LINE_CHARS_MAX, unit: 'characters in a line' });
      if (isOpen && last !== undefined && last.lines.length < SECTION_LINES_MAX) last.lines.push(line);
      else sections.push({ name: `Part ${sections.length + 1}`, lines: [line] });
      isOpen = true;
    }
  }
  return sections;
}

/** In milliseconds, by their lines; their sum is what was asked for. Throws ApiError where it cannot be. */
function lengthsOf(sections: readonly Section[], seconds: number | undefined): number[] {
  const weights = sections.map(({ lines }) => Math.max(1, lines.length));
  const leastMs = sections.length * SECTION_MS.min;
  const mostMs = Math.min(sections.length * SECTION_MS.max, SONG_MS_MAX);
  if (leastMs > mostMs) throw unsupported('lyrics', { atMost: SONG_MS_MAX / SECTION_MS.min, unit: 'sections' });
  const sungMs = weights.reduce((sum, lines) => sum + lines * LINE_MS, 0);
  const totalMs = seconds === undefined ? Math.min(Math.max(sungMs, leastMs), mostMs) : Math.round(seconds * 1000);
  if (totalMs < leastMs || totalMs > mostMs)
    throw unsupported('duration_seconds', { from: leastMs / 1000, to: mostMs / 1000 });
  return shared(totalMs, weights);
}

/** Each has the least that it may; the rest is shared by weight among those that may have more. */
function shared(totalMs: number, weights: readonly number[]): number[] {
  const shares = weights.map(() => SECTION_MS.min);
  let restMs = totalMs - shares.length * SECTION_MS.min;
  while (restMs > 0) {
    const open = [...shares.keys()].filter((at) => (shares[at] ?? 0) < SECTION_MS.max);
    const weight = open.reduce((sum, at) => sum + (weights[at] ?? 0), 0);
    const unit = restMs / weight;
    for (const at of open) {
      const share = shares[at] ?? 0;
      const more = Math.min(Math.ceil(unit * (weights[at] ?? 0)), SECTION_MS.max - share, restMs);
      shares[at] = share + more;
      restMs -= more;
    }
  }
  return shares;
}
