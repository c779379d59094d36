import { pick, type Random, seriesOf } from '../random.ts';
import type { MusicPiece } from './piece.ts';

export type Instrument =
  | 'piano'
  | 'pluck'
  | 'flute'
  | 'strings'
  | 'bell'
  | 'organ'
  | 'synth'
  | 'bass'
  | 'voice'
  | 'kick'
  | 'snare'
  | 'hat';

export interface Note {
  readonly instrument: Instrument;
  /** In seconds from the beginning. */
  readonly start: number;
  readonly seconds: number;
  /** As keys of a piano are counted: 60 is the middle C. */
  readonly key: number;
  readonly loudness: number;
  /** The vowel of a sung note. */
  readonly vowel?: string;
}

interface Mood {
  readonly beatsPerMinute: number;
  readonly beatsPerBar: number;
  readonly tonic: number;
  readonly isMinor: boolean;
  readonly lead: Instrument;
  readonly hasDrums: boolean;
  readonly isCalm: boolean;
}

const SLOW = /\b(?:slow|calm|ambient|lullaby|relax\w*|peaceful|sleep\w*|meditat\w*|ballad|sad|soft|gentle|quiet)\b/;
const FAST =
  /\b(?:fast|energetic|dance|techno|rock|punk|upbeat|party|drive|racing|workout|disco|house|drum and bass)\b/;
const SAD = /\b(?:sad|dark|melanchol\w*|minor|night|rain\w*|lonely|myster\w*|tense|horror|blues?|grief|storm\w*)\b/;
const LEADS: readonly (readonly [RegExp, Instrument])[] = [
  [/\b(?:piano|keys)\b/, 'piano'],
  [/\b(?:guitar|harp|pluck\w*|banjo|ukulele|koto|lute)\b/, 'pluck'],
  [/\b(?:flute|whistle|recorder|oboe|clarinet)\b/, 'flute'],
  [/\b(?:violin|strings|cello|orchestra\w*|cinematic|epic)\b/, 'strings'],
  [/\b(?:bells?|music box|glockenspiel|chimes?|lullaby)\b/, 'bell'],
  [/\b(?:organ|church|accordion)\b/, 'organ'],
  [/\b(?:synth\w*|electronic|techno|8.?bit|chip\w*|retro|house|game)\b/, 'synth'],
];
const TONES: Readonly<Record<string, number>> = { c: 0, d: 2, e: 4, f: 5, g: 7, a: 9, b: 11 };
const MAJOR = [0, 2, 4, 5, 7, 9, 11] as const;
const MINOR = [0, 2, 3, 5, 7, 8, 10] as const;
// Steps of the scale on which the chords of four bars stand.
type Several = readonly [readonly number[], ...(readonly number[])[]];
const MAJOR_TURNS: Several = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [0, 3, 0, 4],
  [0, 2, 3, 4],
];
const MINOR_TURNS: Several = [
  [0, 5, 2, 6],
  [0, 3, 4, 0],
  [0, 6, 5, 4],
  [0, 3, 6, 2],
];

/** Writes the notes of one clip: chords, bass, drums and a tune or a sung line, in bars that fill its length exactly. */
export function compose(piece: MusicPiece, index: number): Note[] {
  const random = seriesOf(`${piece.seed + index}/music`);
  const mood = moodOf(piece, random);
  const bars = Math.max(1, Math.round((piece.seconds * mood.beatsPerMinute) / 60 / mood.beatsPerBar));
  const beat = piece.seconds / bars / mood.beatsPerBar;
  const turn = pick(mood.isMinor ? MINOR_TURNS : MAJOR_TURNS, random);
  const chords = Array.from({ length: bars }, (_, bar) =>
    bar === bars - 1 && !piece.isLoop ? 0 : (turn[bar % 4] ?? 0),
  );
  const score: Score = { mood, beat, chords, random, isLoop: piece.isLoop };
  const sung = sungLine(score, piece.lyrics);
  const silentUntil = sung.reduce((end, note) => Math.max(end, note.start + note.seconds), 0);
  const tune = melody(score).filter((note) => sung.length === 0 || note.start >= silentUntil + mood.beatsPerBar * beat);
  return [...chordNotes(score), ...bassNotes(score), ...(mood.hasDrums ? drums(score) : []), ...sung, ...tune];
}

interface Score {
  readonly mood: Mood;
  readonly beat: number;
  /** One for each bar. */
  readonly chords: readonly number[];
  readonly random: Random;
  readonly isLoop: boolean;
}

function moodOf({ words, speed }: MusicPiece, random: Random): Mood {
  const text = words.toLowerCase();
  const told = Number(/\b(\d{2,3})\s*bpm\b/.exec(text)?.[1]);
  const usual = SLOW.test(text) ? 72 : FAST.test(text) ? 132 : 100;
  const beatsPerMinute = Math.min(220, Math.max(40, told || usual + Math.round(random() * 12 - 6))) * speed;
  const [, tone, half = '', mode] = /\b([a-g])[ -]?(sharp|flat|#|♯|♭)?\s+(major|minor)\b/.exec(text) ?? [];
  const shift = /sharp|#|♯/.test(half) ? 1 : half === '' ? 0 : -1;
  const tonic = tone === undefined ? Math.floor(random() * 12) : (TONES[tone] ?? 0) + shift;
  const chosen = pick<Instrument>(['piano', 'pluck', 'flute', 'bell', 'synth'], random);
  return {
    beatsPerMinute,
    beatsPerBar: /\bwaltz\b|\b3\/4\b/.test(text) ? 3 : 4,
    tonic: tonic > 6 ? tonic - 12 : tonic,
    isMinor: mode === undefined ? SAD.test(text) : mode === 'minor',
    lead: LEADS.find(([named]) => named.test(text))?.[1] ?? chosen,
    hasDrums: !/\b(?:no|without) (?:drums|percussion|beat)\b/.test(text) && (/\bdrum/.test(text) || !SLOW.test(text)),
    isCalm: SLOW.test(text),
  };
}

/** The key that stands on a step of the scale; steps go on above and below the octave. */
function keyOf({ tonic, isMinor }: Mood, step: number, octaveStart: number): number {
  const scale = isMinor ? MINOR : MAJOR;
  const within = ((step % 7) + 7) % 7;
  return octaveStart + tonic + 12 * Math.floor(step / 7) + (scale[within] ?? 0);
}

function chordNotes({ mood, beat, chords, random }: Score): Note[] {
  const isBroken = mood.isCalm || random() < 0.5;
  const bar = beat * mood.beatsPerBar;
  return chords.flatMap((chord, at) => {
    const keys = [0, 2, 4].map((step) => keyOf(mood, chord + step, 48)).map((key) => (key > 62 ? key - 12 : key));
    const pad = keys.map(
      (key): Note => ({ instrument: 'strings', start: at * bar, seconds: bar, key: key + 12, loudness: 0.13 }),
    );
    if (!isBroken) return pad;
    const steps = mood.beatsPerBar * 2;
    const picked = Array.from({ length: steps }, (_, step): Note => {
      const key = keys[[0, 1, 2, 1][step % 4] ?? 0] ?? 60;
      return { instrument: 'pluck', start: at * bar + (step * beat) / 2, seconds: beat, key: key + 12, loudness: 0.16 };
    });
    return [...pad, ...picked];
  });
}

function bassNotes({ mood, beat, chords }: Score): Note[] {
  const bar = beat * mood.beatsPerBar;
  return chords.flatMap((chord, at) => {
    const low = (step: number) => keyOf(mood, chord + step, chord > 3 ? 24 : 36);
    const beats = mood.isCalm ? [0] : mood.beatsPerBar === 3 ? [0, 2] : [0, 1.5, 2, 3.5];
    return beats.map(
      (at2, index): Note => ({
        instrument: 'bass',
        start: at * bar + at2 * beat,
        seconds: mood.isCalm ? bar * 0.95 : beat * 0.9,
        key: low(index === 3 ? 4 : 0),
        loudness: 0.42,
      }),
    );
  });
}

function drums({ mood, beat, chords }: Score): Note[] {
  const hit = (instrument: Instrument, start: number, loudness: number): Note => ({
    instrument,
    start,
    seconds: 0.3,
    key: 60,
    loudness,
  });
  const beats = chords.flatMap((_, bar) =>
    Array.from({ length: mood.beatsPerBar }, (__, at) => ({ start: (bar * mood.beatsPerBar + at) * beat, at })),
  );
  return beats.flatMap(({ start, at }) => {
    const isWeak = mood.beatsPerBar === 3 ? at > 0 : at % 2 === 1;
    return [
      isWeak ? hit('snare', start, 0.2) : hit('kick', start, 0.6),
      hit('hat', start, 0.08),
      hit('hat', start + beat / 2, 0.12),
    ];
  });
}

// How the beats of a bar are divided; a bar of three takes what fits.
const RHYTHMS: Several = [
  [1, 1, 1, 1],
  [1.5, 0.5, 1, 1],
  [1, 0.5, 0.5, 2],
  [0.5, 0.5, 1, 0.5, 0.5, 1],
  [2, 1, 1],
  [1, 1, 2],
];

/** Four bars of which the first returns: the same thought twice, another one, and the first again. */
function melody(score: Score): Note[] {
  const { mood, beat, chords, random, isLoop } = score;
  const thoughts = [0, 1].map(() => ({
    rhythm: pick(RHYTHMS, random),
    moves: Array.from({ length: 8 }, () => Math.floor(random() * 5) - 2),
  }));
  return chords.flatMap((chord, bar) => {
    const { rhythm, moves } = thoughts[bar % 4 === 2 ? 1 : 0] ?? { rhythm: RHYTHMS[0], moves: [] };
    const isEnd = bar === chords.length - 1 && !isLoop;
    let at = 0;
    let step = chord > 3 ? chord - 7 : chord;
    return (isEnd ? [mood.beatsPerBar] : rhythm).flatMap((beats, index): Note[] => {
      const start = at;
      at += beats;
      const move = moves[index] ?? 0;
      step += index > 0 ? move : move > 0 ? 2 : 0;
      if (start >= mood.beatsPerBar) return [];
      const seconds = Math.min(beats, mood.beatsPerBar - start) * beat * 0.95;
      const key = keyOf(mood, isEnd ? 0 : Math.max(-3, Math.min(9, step)), 72);
      return [
        {
          instrument: mood.lead,
          start: (bar * mood.beatsPerBar + start) * beat,
          seconds,
          key,
          loudness: start === 0 ? 0.36 : 0.3,
        },
      ];
    });
  });
}

/** One note for each syllable; a line of the lyrics takes two bars and rests at its end. */
function sungLine({ mood, beat, chords, random }: Score, lyrics: string): Note[] {
  const lines = lyrics
    .split(/[\n.!?;]+/)
    .map(syllablesOf)
    .filter((line) => line.length > 0);
  const room = Math.min(2, chords.length) * mood.beatsPerBar;
  let from = 0;
  return lines.flatMap((line) => {
    const start = from;
    // A long line takes as many bars as it needs at four syllables to the second beat.
    const beats = Math.max(room, Math.ceil((line.length / 2 + 1) / mood.beatsPerBar) * mood.beatsPerBar);
    from += beats;
    const pace = (beats - 1) / line.length;
    let step = 2;
    return line.flatMap((vowel, index): Note[] => {
      const at = start + index * pace;
      const chord = chords[Math.floor(at / mood.beatsPerBar)];
      if (chord === undefined) return [];
      step = Math.max(-2, Math.min(6, step + Math.floor(random() * 5) - 2));
      const isLast = index === line.length - 1;
      const near = [chord - 7, chord - 5, chord - 3, chord, chord + 2, chord + 4].reduce((best, tone) =>
        Math.abs(tone - step) < Math.abs(best - step) ? tone : best,
      );
      const key = keyOf(mood, index % 2 === 0 || isLast ? near : step, 60);
      return [
        {
          instrument: 'voice',
          start: at * beat,
          seconds: (isLast ? pace + 0.6 : pace * 0.92) * beat,
          key,
          loudness: 0.5,
          vowel,
        },
      ];
    });
  });
}

/** The vowels of a line, one for each syllable; a character of a script without spaces is a syllable. */
function syllablesOf(line: string): string[] {
  const heard =
    line
      .toLowerCase()
      .normalize('NFKD')
      .match(/[aeiouy]+|[\u0400-\u04ff]{2}|[\u3040-\u9fff\uac00-\ud7a3]/gu) ?? [];
  return heard.map((sound) => /[aeiou]/.exec(sound)?.[0] ?? 'a');
}
