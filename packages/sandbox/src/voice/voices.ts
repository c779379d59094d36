import { createHash } from 'node:crypto';
import { digest, pick, seriesOf } from '../random.ts';

const VOICE_NAMES = ['kal', 'kal16', 'awb', 'rms', 'slt'] as const;
export type VoiceName = (typeof VOICE_NAMES)[number];

/** Who speaks, how much higher and how much faster than that voice is by itself. */
export interface Voice {
  readonly name: VoiceName;
  readonly pitch: number;
  readonly speed: number;
}

const own = (name: VoiceName, pitch = 1): Voice => ({ name, pitch, speed: 1 });

/** Client libraries send the names on the right by default. */
const VOICES: ReadonlyMap<string, Voice> = new Map([
  ...VOICE_NAMES.map((name): [string, Voice] => [name, own(name)]),
  ['alloy', own('rms', 1.04)],
  ['ash', own('rms', 0.96)],
  ['ballad', own('awb', 0.96)],
  ['cedar', own('rms')],
  ['coral', own('slt')],
  ['echo', own('awb')],
  ['fable', own('awb', 1.06)],
  ['marin', own('slt', 0.97)],
  ['nova', own('slt', 1.03)],
  ['onyx', own('rms', 0.88)],
  ['sage', own('slt', 0.94)],
  ['shimmer', own('slt', 1.08)],
  ['verse', own('rms', 1.1)],
]);
const USUAL = own('rms');

export const KNOWN_VOICES = [...VOICES.keys()].join(', ');

/** A designed voice is wholly told by its id: `slt-p112-s95` is slt, 112 % as high and 95 % as fast. */
const DESIGNED = /^(kal|kal16|awb|rms|slt)-p(\d{2,3})-s(\d{2,3})$/;
const PERCENT_MIN = 50;
const PERCENT_MAX = 200;

/** Undefined for a voice that there is not. */
export function voiceOf(id: string | undefined): Voice | undefined {
  if (id === undefined) return USUAL;
  const [, letters = '', pitch, speed] = DESIGNED.exec(id) ?? [];
  const name = VOICE_NAMES.find((known) => known === letters);
  if (name === undefined) return VOICES.get(id.toLowerCase());
  const [high, fast] = [Number(pitch), Number(speed)];
  const isWithin = (percent: number) => percent >= PERCENT_MIN && percent <= PERCENT_MAX;
  return isWithin(high) && isWithin(fast) ? { name, pitch: high / 100, speed: fast / 100 } : undefined;
}

/** The voice that stands for a sample: the same for the same bytes, and no likeness of who speaks in it. */
export function clonedVoice(sample: Buffer): Voice {
  const series = seriesOf(createHash('sha256').update(sample).digest('hex'));
  return { name: pick(VOICE_NAMES, series), pitch: 0.85 + series() * 0.3, speed: 0.9 + series() * 0.2 };
}

export interface DesignedVoice {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** What words say about a voice: the voices they fit, how high and how fast. */
const TRAITS: readonly (readonly [words: RegExp, trait: { names?: VoiceName[]; pitch?: number; speed?: number }])[] = [
  [/\b(?:wom[ae]n|female|girl|lady|mother|queen|she|her)\b/i, { names: ['slt'] }],
  [/\b(?:m[ae]n|male|boy|gentleman|father|king|he|his)\b/i, { names: ['rms', 'awb', 'kal16'] }],
  [/\b(?:british|english|scottish|scots|posh)\b/i, { names: ['awb'] }],
  [/\b(?:robot\w*|machine|synthetic|computer|android)\b/i, { names: ['kal16', 'kal'] }],
  [/\b(?:child|kid|girl|boy|small|tiny|elf|fairy)\b/i, { pitch: 1.35 }],
  [/\b(?:high|bright|young|cheerful|light)\b/i, { pitch: 1.15 }],
  [/\b(?:deep|low|dark|bass|gravelly|giant|monster)\b/i, { pitch: 0.78 }],
  [/\b(?:old|elderly|grand\w+|wise)\b/i, { pitch: 0.92, speed: 0.85 }],
  [/\b(?:slow\w*|calm|sleepy|solemn|relaxed|soothing)\b/i, { speed: 0.8 }],
  [/\b(?:fast|quick|rapid|energetic|excited|lively|hasty)\b/i, { speed: 1.25 }],
];
/** What the three proposals make of one description. */
const TURNS = [
  { pitch: 1, speed: 1 },
  { pitch: 0.9, speed: 0.95 },
  { pitch: 1.1, speed: 1.05 },
];

/** Three voices that fit the description, each another one; the same three for the same words. */
export function designVoices(description: string): DesignedVoice[] {
  const fitting = TRAITS.filter(([words]) => words.test(description)).map(([, trait]) => trait);
  const matching = fitting.flatMap(({ names = [] }) => names);
  const names = matching.length > 0 ? matching : (['rms', 'slt', 'awb'] as const);
  const begin = Number.parseInt(digest(description).slice(0, 6), 16);
  return TURNS.map((turn, index) => {
    const name = names[(begin + index) % names.length] ?? USUAL.name;
    const part = (key: 'pitch' | 'speed') =>
      percent(fitting.reduce((product, trait) => product * (trait[key] ?? 1), turn[key]));
    const [pitch, speed] = [part('pitch'), part('speed')];
    const id = `${name}-p${pitch}-s${speed}`;
    return { id, name: `Voice ${index + 1}`, description: `${name}, ${pitch} % as high and ${speed} % as fast` };
  });
}

function percent(factor: number): number {
  return Math.min(PERCENT_MAX, Math.max(PERCENT_MIN, Math.round(factor * 100)));
}
