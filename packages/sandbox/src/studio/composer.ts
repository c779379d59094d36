import { pick, type Random, seriesOf } from '../random.ts';
import type { Instrument, Note } from './instruments.ts';
import type { MusicPiece } from './piece.ts';

interface Mood {
  readonly beatsPerMinute: number;
  readonly beatsPerBar: number;
  readonly tonic: number;
  readonly isMinor: boolean;
  readonly lead: Instrument;
  readonly hasDrums: boolean;
  readonly isCalm: boolean;
}

const CALM = /\b(?:slow|calm|ambient|lullaby|relax\w*|peaceful|sleep\w*|meditat\w*|ballad|sad|soft|gentle|quiet)\b/;
const FAST = /\b(?:fast|energetic|dance|techno|rock|punk|upbeat|party|drive|racing|workout|disco|house)\b/;
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
const TONES = 'c.d.ef.g.a.b';
const MAJOR = [0, 2, 4, 5, 7, 9, 11] as const;
const MINOR = [0, 2, 3, 5, 7, 8, 10] as const;
/** Steps of the scale on which the chords of four bars stand. */
const MAJOR_TURNS = ['0453', '0534', '0304', '0234'] as const;
const MINOR_TURNS = ['0526', '0340', '0654', '0362'] as const;
/** How the halves of a bar's beats are divided; a bar of three beats takes what fits. */
const RHYTHMS = ['2222', '3122', '2114', '112112', '422', '224'] as const;

interface Score {
  readonly mood: Mood;
  /** In seconds. */
  readonly beat: number;
  readonly bar: number;
  /** One for each bar. */
  readonly chords: readonly number[];
  readonly random: Random;
  readonly isLoop: boolean;
}

/** Writes the notes of one clip: chords, bass, drums and a tune or a sung line, in bars that fill its length exactly. */
export function compose(piece: MusicPiece, index: number): Note[] {
  const random = seriesOf(`${piece.seed + index}/music`);
  const mood = moodOf(piece, random);
  const bars = Math.max(1, Math.round((piece.seconds * mood.beatsPerMinute) / 60 / mood.beatsPerBar));
  const bar = piece.seconds / bars;
  const turn: string = pick(mood.isMinor ? MINOR_TURNS : MAJOR_TURNS, random);
  const isEnd = (at: number) => at === bars - 1 && !piece.isLoop;
  const chords = Array.from({ length: bars }, (_, at) => (isEnd(at) ? 0 : Number(turn.charAt(at % 4))));
  const score: Score = { mood, beat: bar / mood.beatsPerBar, bar, chords, random, isLoop: piece.isLoop };
  const sung = sungLine(score, piece.lyrics);
  const sungUntil = sung.reduce((end, { start }) => Math.max(end, start + bar), 0);
  const tune = melody(score).filter(({ start }) => start >= sungUntil);
  return [...harmony(score), ...bass(score), ...(mood.hasDrums ? drums(score) : []), ...sung, ...tune];
}

function moodOf({ words, speed }: MusicPiece, random: Random): Mood {
  const text = words.toLowerCase();
  const stated = Number(/\b(\d{2,3})\s*bpm\b/.exec(text)?.[1]);
  const usual = CALM.test(text) ? 72 : FAST.test(text) ? 132 : 100;
  const [, tone, half = '', mode] = /\b([a-g])[ -]?(sharp|flat|#|♯|♭)?\s+(major|minor)\b/.exec(text) ?? [];
  const shift = /sharp|#|♯/.test(half) ? 1 : half === '' ? 0 : -1;
  const tonic = tone === undefined ? Math.floor(random() * 12) : TONES.indexOf(tone) + shift;
  const drifting = usual + Math.round(random() * 12 - 6);
  const chosen = pick<Instrument>(['piano', 'pluck', 'flute', 'bell', 'synth'], random);
  const isCalm = CALM.test(text);
  return {
    beatsPerMinute: Math.min(220, Math.max(40, stated || drifting)) * speed,
    beatsPerBar: /\bwaltz\b|\b3\/4\b/.test(text) ? 3 : 4,
    tonic: tonic > 6 ? tonic - 12 : tonic,
    isMinor: mode === undefined ? SAD.test(text) : mode === 'minor',
    lead: LEADS.find(([named]) => named.test(text))?.[1] ?? chosen,
    hasDrums: !/\b(?:no|without) (?:drums|percussion|beat)\b/.test(text) && (/\bdrum/.test(text) || !isCalm),
    isCalm,
  };
}

/** The key that stands on a step of the scale; steps go on above and below the octave. */
function keyOf({ tonic, isMinor }: Mood, step: number, octave: number): number {
  const scale = isMinor ? MINOR : MAJOR;
  return octave + tonic + 12 * Math.floor(step / 7) + (scale[((step % 7) + 7) % 7] ?? 0);
}

function harmony({ mood, beat, bar, chords, random }: Score): Note[] {
  const isBroken = mood.isCalm || random() < 0.5;
  return chords.flatMap((chord, at) => {
    const keys = [0, 2, 4].map((step) => keyOf(mood, chord + step, 60)).map((key) => (key > 74 ? key - 12 : key));
    const strings = keys.map(
      (key): Note => ({ instrument: 'strings', start: at * bar, seconds: bar, key, loudness: 0.13 }),
    );
    const picked = Array.from({ length: mood.beatsPerBar * 2 }, (_, half): Note => {
      const key = keys[[0, 1, 2, 1][half % 4] ?? 0] ?? 60;
      return { instrument: 'pluck', start: at * bar + (half * beat) / 2, seconds: beat, key, loudness: 0.16 };
    });
    return isBroken ? [...strings, ...picked] : strings;
  });
}

function bass({ mood, beat, bar, chords }: Score): Note[] {
  const beats = mood.isCalm ? [0] : mood.beatsPerBar === 3 ? [0, 2] : [0, 1.5, 2, 3.5];
  const seconds = mood.isCalm ? bar * 0.95 : beat * 0.9;
  return chords.flatMap((chord, at) =>
    beats.map((beatAt, index): Note => {
      const key = keyOf(mood, chord + (index === 3 ? 4 : 0), chord > 3 ? 24 : 36);
      return { instrument: 'bass', start: at * bar + beatAt * beat, seconds, key, loudness: 0.42 };
    }),
  );
}

function drums({ mood, beat, chords }: Score): Note[] {
  return Array.from({ length: chords.length * mood.beatsPerBar }).flatMap((_, at): Note[] => {
    const isWeak = mood.beatsPerBar === 3 ? at % 3 > 0 : at % 2 === 1;
    const hit = { start: at * beat, seconds: 0.3, key: 60 };
    const strong: Note = isWeak
      ? { ...hit, instrument: 'snare', loudness: 0.2 }
      : { ...hit, instrument: 'kick', loudness: 0.6 };
    const between: Note = { ...hit, instrument: 'hat', start: hit.start + beat / 2, loudness: 0.12 };
    return [strong, { ...hit, instrument: 'hat', loudness: 0.08 }, between];
  });
}

/** Four bars of which the first returns: the same thought twice, another one, and the first again. */
function melody({ mood, beat, bar, chords, random, isLoop }: Score): Note[] {
  const moves = () => Array.from({ length: 8 }, () => Math.floor(random() * 5) - 2);
  const thoughts = [0, 1].map(() => ({ rhythm: Array.from(pick<string>(RHYTHMS, random), Number), moves: moves() }));
  return chords.flatMap((chord, at) => {
    const thought = thoughts[at % 4 === 2 ? 1 : 0] ?? { rhythm: [], moves: [] };
    const isEnd = at === chords.length - 1 && !isLoop;
    let [half, step] = [0, chord > 3 ? chord - 7 : chord];
    return (isEnd ? [mood.beatsPerBar * 2] : thought.rhythm).flatMap((halves, index): Note[] => {
      const [from, move] = [half, thought.moves[index] ?? 0];
      half += halves;
      step = isEnd ? 0 : Math.max(-3, Math.min(9, step + (index > 0 ? move : move > 0 ? 2 : 0)));
      const seconds = (Math.min(half, mood.beatsPerBar * 2) - from) * (beat / 2) * 0.95;
      const note = { instrument: mood.lead, start: at * bar + (from * beat) / 2, key: keyOf(mood, step, 72) };
      return seconds <= 0 ? [] : [{ ...note, seconds, loudness: from === 0 ? 0.36 : 0.3 }];
    });
  });
}

/** One note for each syllable; a line of the lyrics takes two bars, or more if it is long, and rests at its end. */
function sungLine({ mood, beat, chords, random }: Score, lyrics: string): Note[] {
  const lines = lyrics.split(/[\n.!?;]+/).map(syllablesOf);
  const beatsMin = Math.min(2, chords.length) * mood.beatsPerBar;
  let from = 0;
  return lines.flatMap((line) => {
    if (line.length === 0) return [];
    const start = from;
    const beats = Math.max(beatsMin, Math.ceil((line.length / 2 + 1) / mood.beatsPerBar) * mood.beatsPerBar);
    from += beats;
    const pace = (beats - 1) / line.length;
    let step = 2;
    return line.flatMap((vowel, index): Note[] => {
      const at = start + index * pace;
      const chord = chords[Math.floor(at / mood.beatsPerBar)];
      if (chord === undefined) return [];
      step = Math.max(-2, Math.min(6, step + Math.floor(random() * 5) - 2));
      const isLast = index === line.length - 1;
      const isStrong = index % 2 === 0 || isLast;
      const key = keyOf(mood, isStrong ? nearest(step, chord) : step, 60);
      const seconds = (isLast ? pace + 0.6 : pace * 0.92) * beat;
      return [{ instrument: 'voice', start: at * beat, seconds, key, loudness: 0.5, vowel }];
    });
  });
}

/** The tone of a chord that is next to a step of the scale. */
function nearest(step: number, chord: number): number {
  const tones = [-7, -5, -3, 0, 2, 4].map((tone) => chord + tone);
  return tones.reduce((best, tone) => (Math.abs(tone - step) < Math.abs(best - step) ? tone : best));
}

/** The vowels of a line, one for each syllable; a character of a script without spaces is a syllable. */
function syllablesOf(line: string): string[] {
  const plain = line.toLowerCase().normalize('NFKD');
  const vowels = plain.match(/[aeiouy]+|[\u0400-\u04ff]{2}|[\u3040-\u9fff\uac00-\ud7a3]/gu) ?? [];
  return vowels.map((sound) => /[aeiou]/.exec(sound)?.[0] ?? 'a');
}
