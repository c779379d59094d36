import { digest, seriesOf } from '../random.ts';
import type { Instrument, Note } from './composer.ts';

/** How a tone is built and how it comes and goes. */
interface Voice {
  /** Overtones: multiple of the tone, and how loud. */
  readonly partials: readonly (readonly [multiple: number, amount: number])[];
  readonly attackSeconds: number;
  /** How long until a third is left; undefined for a tone that holds. */
  readonly decaySeconds?: number;
  readonly releaseSeconds: number;
  readonly vibrato: number;
  /** From -1, left, to 1. */
  readonly side: number;
}

const overtones = (...amounts: readonly number[]) => amounts.map((amount, index) => [index + 1, amount] as const);

const VOICES: Readonly<Record<Exclude<Instrument, 'kick' | 'snare' | 'hat' | 'voice'>, Voice>> = {
  piano: {
    partials: overtones(1, 0.5, 0.28, 0.14, 0.08, 0.05),
    attackSeconds: 0.004,
    decaySeconds: 0.7,
    releaseSeconds: 0.25,
    vibrato: 0,
    side: 0.1,
  },
  pluck: {
    partials: overtones(1, 0.6, 0.4, 0.3, 0.16, 0.1),
    attackSeconds: 0.002,
    decaySeconds: 0.3,
    releaseSeconds: 0.15,
    vibrato: 0,
    side: -0.35,
  },
  flute: { partials: overtones(1, 0.22, 0.08), attackSeconds: 0.06, releaseSeconds: 0.1, vibrato: 0.006, side: 0.15 },
  strings: {
    partials: overtones(1, 0.5, 0.33, 0.25, 0.2, 0.12),
    attackSeconds: 0.16,
    releaseSeconds: 0.3,
    vibrato: 0.003,
    side: 0.3,
  },
  bell: {
    partials: [
      [1, 1],
      [2.76, 0.4],
      [5.4, 0.16],
    ],
    attackSeconds: 0.002,
    decaySeconds: 0.9,
    releaseSeconds: 0.8,
    vibrato: 0,
    side: 0.25,
  },
  organ: {
    partials: [
      [0.5, 0.5],
      [1, 1],
      [2, 0.6],
      [3, 0.3],
      [4, 0.3],
    ],
    attackSeconds: 0.02,
    releaseSeconds: 0.08,
    vibrato: 0.002,
    side: 0,
  },
  synth: {
    partials: [
      [1, 0.8],
      [3, 0.27],
      [5, 0.16],
      [7, 0.11],
    ],
    attackSeconds: 0.008,
    decaySeconds: 1.2,
    releaseSeconds: 0.08,
    vibrato: 0,
    side: 0.1,
  },
  bass: {
    partials: overtones(1, 0.5, 0.25, 0.1),
    attackSeconds: 0.008,
    decaySeconds: 0.9,
    releaseSeconds: 0.08,
    vibrato: 0,
    side: 0,
  },
};

/** Where the two strongest bands of a vowel lie, in hertz. */
const VOWELS: Readonly<Record<string, readonly [number, number]>> = {
  a: [800, 1200],
  e: [500, 1900],
  i: [320, 2300],
  o: [500, 900],
  u: [350, 750],
};

const TABLE_SIZE = 8192;
const SINES = Float32Array.from({ length: TABLE_SIZE }, (_, index) => Math.sin((2 * Math.PI * index) / TABLE_SIZE));

export interface Take {
  readonly seconds: number;
  readonly sampleRate: number;
  /** What sounds beyond the end sounds at the beginning. */
  readonly isLoop: boolean;
  readonly singer: string;
  readonly volume: number;
}

/** Plays notes to the left and the right, exactly as many samples as the seconds hold. */
export function play(notes: readonly Note[], take: Take): [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>] {
  const length = Math.round(take.seconds * take.sampleRate);
  const [left, right] = [new Float32Array(length), new Float32Array(length)];
  for (const note of notes) {
    const { sound, side } = soundOf(note, take);
    const start = Math.round(note.start * take.sampleRate);
    const [toLeft, toRight] = [Math.sqrt((1 - side) / 2), Math.sqrt((1 + side) / 2)];
    for (let at = 0; at < sound.length; at++) {
      const place = take.isLoop ? (start + at) % length : start + at;
      if (place >= length) break;
      left[place] = (left[place] ?? 0) + (sound[at] ?? 0) * toLeft;
      right[place] = (right[place] ?? 0) + (sound[at] ?? 0) * toRight;
    }
  }
  return [mastered(left, take, 0.31), mastered(right, take, 0.37)];
}

function soundOf(note: Note, take: Take): { sound: Float32Array; side: number } {
  switch (note.instrument) {
    case 'kick':
    case 'snare':
    case 'hat':
      return { sound: struck(note, take), side: note.instrument === 'hat' ? 0.3 : 0 };
    case 'voice': {
      const voice = singing(note, take.singer);
      return { sound: tone(note, voice, take), side: voice.side };
    }
    default:
      return { sound: tone(note, VOICES[note.instrument], take), side: VOICES[note.instrument].side };
  }
}

function hertz(key: number): number {
  return 440 * 2 ** ((key - 69) / 12);
}

function singing({ key, vowel = 'a' }: Note, singer: string): Voice {
  // Between a deep and a bright voice.
  const size = 0.85 + (0.35 * Number.parseInt(digest(singer).slice(0, 4), 16)) / 0xffff;
  const bands = VOWELS[vowel] ?? [800, 1200];
  const partials = Array.from({ length: 14 }, (_, index): readonly [number, number] => {
    const pitch = hertz(key) * (index + 1);
    const loud = bands.reduce((sum, band) => sum + Math.exp(-(((pitch - band * size) / 260) ** 2)), 0.12);
    return [index + 1, loud / (index + 1) ** 0.5];
  });
  const all = partials.reduce((sum, [, amount]) => sum + amount, 0);
  return {
    partials: partials.map(([multiple, amount]) => [multiple, (1.6 * amount) / all] as const),
    attackSeconds: 0.05,
    releaseSeconds: 0.12,
    vibrato: 0.008,
    side: 0,
  };
}

function tone(note: Note, voice: Voice, { sampleRate }: Take): Float32Array {
  const held = Math.round(note.seconds * sampleRate);
  const length = held + Math.round(voice.releaseSeconds * sampleRate);
  const sound = new Float32Array(length);
  for (const [multiple, amount] of voice.partials) {
    const pitch = hertz(note.key) * multiple;
    // Above half the sample rate a tone would come back as another one.
    if (pitch > sampleRate * 0.45) continue;
    const step = (pitch / sampleRate) * TABLE_SIZE;
    let phase = 0;
    for (let at = 0; at < length; at++) {
      sound[at] = (sound[at] ?? 0) + amount * (SINES[phase & (TABLE_SIZE - 1)] ?? 0);
      const bend =
        voice.vibrato === 0
          ? 1
          : 1 + voice.vibrato * (SINES[((at * 5.4 * TABLE_SIZE) / sampleRate) & (TABLE_SIZE - 1)] ?? 0);
      phase += step * bend;
    }
  }
  const [attack, fade] = [
    voice.attackSeconds * sampleRate,
    voice.decaySeconds === undefined ? 1 : Math.exp(-1 / (voice.decaySeconds * sampleRate)),
  ];
  let ring = note.loudness;
  for (let at = 0; at < length; at++) {
    const gate = at < held ? Math.min(1, at / attack) : Math.max(0, 1 - (at - held) / (length - held));
    sound[at] = (sound[at] ?? 0) * gate * ring;
    ring *= fade;
  }
  return sound;
}

function struck({ instrument, seconds, start, loudness }: Note, { sampleRate }: Take): Float32Array {
  const noise = seriesOf(`${instrument} ${start}`);
  let before = 0;
  let phase = 0;
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, at) => {
    const time = at / sampleRate;
    const raw = noise() * 2 - 1;
    const bright = raw - before;
    before = raw;
    phase += (2 * Math.PI * (48 + 90 * Math.exp(-time * 30))) / sampleRate;
    if (instrument === 'kick') return loudness * Math.sin(phase) * Math.exp(-time * 11);
    if (instrument === 'hat') return loudness * bright * Math.exp(-time * 55);
    return loudness * (raw * Math.exp(-time * 18) + 0.6 * Math.sin(2 * Math.PI * 185 * time) * Math.exp(-time * 24));
  });
}

/** Adds a little room, ends softly unless it loops, and keeps every sample in range. */
function mastered(
  dry: Float32Array<ArrayBuffer>,
  { sampleRate, isLoop, volume }: Take,
  roomSeconds: number,
): Float32Array<ArrayBuffer> {
  const { length } = dry;
  const echoes = [
    [roomSeconds * 0.4, 0.16],
    [roomSeconds, 0.1],
  ].map(([late = 0, amount = 0]) => ({ late: Math.round(late * sampleRate), amount }));
  const fadeFrom = isLoop ? length : length - Math.min(length * 0.1, sampleRate);
  return dry.map((sample, at) => {
    const wet = echoes.reduce((sum, { late, amount }) => {
      const from = isLoop ? (((at - late) % length) + length) % length : at - late;
      return sum + amount * (dry[from] ?? 0);
    }, sample);
    const fade = at < fadeFrom ? 1 : (length - at) / (length - fadeFrom);
    return Math.tanh(wet * 0.85) * 0.92 * fade * volume;
  });
}
