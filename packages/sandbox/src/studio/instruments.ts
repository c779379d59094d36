import { digest, seriesOf } from '../random.ts';

export type Instrument = keyof typeof VOICES | 'voice' | 'kick' | 'snare' | 'hat';

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

/** How a tone is built and how it comes and goes. */
interface Voice {
  /** How loud each overtone is, from the tone itself up. */
  readonly overtones: readonly number[];
  /** How many times the tone each overtone is, where that is not 1, 2, 3 and so on. */
  readonly multiples?: readonly number[];
  readonly attackSeconds: number;
  /** How long until a third is left; undefined for a tone that holds. */
  readonly decaySeconds?: number;
  readonly releaseSeconds: number;
  readonly vibrato?: number;
  /** From -1, left, to 1. */
  readonly side: number;
}

// biome-ignore format: a table of voices
const VOICES = {
  piano: { overtones: [1, 0.5, 0.28, 0.14, 0.08, 0.05], attackSeconds: 0.004, decaySeconds: 0.7, releaseSeconds: 0.25, side: 0.1 },
  pluck: { overtones: [1, 0.6, 0.4, 0.3, 0.16, 0.1], attackSeconds: 0.002, decaySeconds: 0.3, releaseSeconds: 0.15, side: -0.35 },
  flute: { overtones: [1, 0.22, 0.08], attackSeconds: 0.06, releaseSeconds: 0.1, vibrato: 0.006, side: 0.15 },
  strings: { overtones: [1, 0.5, 0.33, 0.25, 0.2, 0.12], attackSeconds: 0.16, releaseSeconds: 0.3, vibrato: 0.003, side: 0.3 },
  bell: { overtones: [1, 0.4, 0.16], multiples: [1, 2.76, 5.4], attackSeconds: 0.002, decaySeconds: 0.9, releaseSeconds: 0.8, side: 0.25 },
  organ: { overtones: [0.5, 1, 0.6, 0.3, 0.3], multiples: [0.5, 1, 2, 3, 4], attackSeconds: 0.02, releaseSeconds: 0.08, side: 0 },
  synth: { overtones: [0.8, 0.27, 0.16, 0.11], multiples: [1, 3, 5, 7], attackSeconds: 0.008, decaySeconds: 1.2, releaseSeconds: 0.08, side: 0.1 },
  bass: { overtones: [1, 0.5, 0.25, 0.1], attackSeconds: 0.008, decaySeconds: 0.9, releaseSeconds: 0.08, side: 0 },
} as const satisfies Readonly<Record<string, Voice>>;

/** Where the two strongest bands of a vowel lie, in hertz. */
// biome-ignore format: a table of vowels
const VOWELS: Readonly<Record<string, readonly [number, number]>> = {
  a: [800, 1200], e: [500, 1900], i: [320, 2300], o: [500, 900], u: [350, 750],
};

const TABLE_SIZE = 8192;
const SINES = Float32Array.from({ length: TABLE_SIZE }, (_, index) => Math.sin((2 * Math.PI * index) / TABLE_SIZE));

type Sound = Float32Array<ArrayBuffer>;

export interface Take {
  readonly seconds: number;
  readonly sampleRate: number;
  /** What sounds beyond the end sounds at the beginning. */
  readonly isLoop: boolean;
  readonly singer: string;
  readonly volume: number;
}

/** Plays notes to the left and the right, exactly as many samples as the seconds hold. */
export function play(notes: readonly Note[], take: Take): [Sound, Sound] {
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
  const { instrument } = note;
  if (instrument === 'kick' || instrument === 'snare' || instrument === 'hat')
    return { sound: struck(note, take), side: 0 };
  const voice = instrument === 'voice' ? singing(note, take.singer) : VOICES[instrument];
  return { sound: tone(note, voice, take), side: voice.side };
}

function hertz(key: number): number {
  return 440 * 2 ** ((key - 69) / 12);
}

function singing({ key, vowel = 'a' }: Note, singer: string): Voice {
  // Between a deep and a bright voice.
  const size = 0.85 + (0.35 * Number.parseInt(digest(singer).slice(0, 4), 16)) / 0xffff;
  const bands = VOWELS[vowel] ?? [800, 1200];
  const loud = Array.from({ length: 14 }, (_, index) => {
    const pitch = hertz(key) * (index + 1);
    const near = bands.reduce((sum, band) => sum + Math.exp(-(((pitch - band * size) / 260) ** 2)), 0.12);
    return near / (index + 1) ** 0.5;
  });
  const all = loud.reduce((sum, amount) => sum + amount, 0);
  const overtones = loud.map((amount) => (1.6 * amount) / all);
  return { overtones, attackSeconds: 0.05, releaseSeconds: 0.12, vibrato: 0.008, side: 0 };
}

function tone(note: Note, voice: Voice, { sampleRate }: Take): Float32Array {
  const sustain = Math.round(note.seconds * sampleRate);
  const length = sustain + Math.round(voice.releaseSeconds * sampleRate);
  const sound = new Float32Array(length);
  const { vibrato = 0, decaySeconds } = voice;
  const [waving, mask] = [(5.4 * TABLE_SIZE) / sampleRate, TABLE_SIZE - 1];
  for (const [index, amount] of voice.overtones.entries()) {
    const pitch = hertz(note.key) * (voice.multiples?.[index] ?? index + 1);
    // Above half the sample rate a tone would come back as another one.
    if (pitch > sampleRate * 0.45) continue;
    const step = (pitch / sampleRate) * TABLE_SIZE;
    let phase = 0;
    for (let at = 0; at < length; at++) {
      sound[at] = (sound[at] ?? 0) + amount * (SINES[phase & mask] ?? 0);
      phase += vibrato === 0 ? step : step * (1 + vibrato * (SINES[(at * waving) & mask] ?? 0));
    }
  }
  const attack = voice.attackSeconds * sampleRate;
  const fade = decaySeconds === undefined ? 1 : Math.exp(-1 / (decaySeconds * sampleRate));
  let ring = note.loudness;
  for (let at = 0; at < length; at++) {
    const gate = at < sustain ? Math.min(1, at / attack) : Math.max(0, 1 - (at - sustain) / (length - sustain));
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
function mastered(dry: Sound, { sampleRate, isLoop, volume }: Take, roomSeconds: number): Sound {
  const { length } = dry;
  const [near, far] = [Math.round(roomSeconds * 0.4 * sampleRate), Math.round(roomSeconds * sampleRate)];
  const before = (at: number) => dry[isLoop ? ((at % length) + length) % length : at] ?? 0;
  const fadeFrom = isLoop ? length : length - Math.min(length * 0.1, sampleRate);
  return dry.map((sample, at) => {
    const wet = sample + 0.16 * before(at - near) + 0.1 * before(at - far);
    const fade = at < fadeFrom ? 1 : (length - at) / (length - fadeFrom);
    return Math.tanh(wet * 0.85 * volume) * 0.92 * fade;
  });
}
