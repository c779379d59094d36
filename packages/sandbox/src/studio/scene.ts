import { pick, type Random } from '../random.ts';

/** What a prompt's words hold, as far as it can be drawn. */
export interface Scene {
  readonly time: Time;
  readonly things: readonly Thing[];
  /** A colour that belongs to no thing colours the whole. */
  readonly tint: string | undefined;
}

export interface Thing {
  readonly name: ThingName;
  readonly color: string | undefined;
  readonly count: number;
}

type Time = (typeof TIMES)[number][0];
export type ThingName = (typeof THINGS)[number][0];

const TIMES = [
  ['night', 'night midnight moonlit nocturnal dark starry'],
  ['dusk', 'sunset sunrise dawn dusk evening golden twilight'],
  ['space', 'space galaxy cosmos universe cosmic nebula orbit'],
  ['grey', 'grey gray fog foggy mist misty storm stormy overcast gloomy winter'],
  ['day', 'day noon daylight sunny bright summer morning'],
] as const;

const THINGS = [
  ['stars', 'stars starry constellation galaxy nebula'],
  ['sun', 'sun sunset sunrise sunny sunlight dawn'],
  ['moon', 'moon moonlit moonlight'],
  ['planet', 'planet saturn mars jupiter earth globe world'],
  ['rainbow', 'rainbow'],
  ['cloud', 'cloud cloudy sky overcast storm'],
  ['mountain', 'mountain peak alps ridge cliff volcano'],
  ['city', 'city skyline town street building skyscraper tower downtown urban'],
  ['sea', 'sea ocean water lake river wave beach coast shore harbor harbour bay island pond'],
  ['desert', 'desert dune sand'],
  ['meadow', 'meadow field grass hill garden park farm valley landscape countryside'],
  ['tree', 'tree oak palm pine fir forest wood jungle orchard park'],
  ['house', 'house cottage home cabin hut castle barn village church'],
  ['gate', 'gate tollgate barrier checkpoint toll'],
  ['boat', 'boat ship sailboat sail yacht vessel canoe'],
  ['car', 'car truck taxi bus van vehicle'],
  ['person', 'person man woman girl boy child people human astronaut dancer king queen robot portrait'],
  ['animal', 'cat dog fox wolf horse cow sheep bear lion tiger deer rabbit animal kitten puppy otter'],
  ['flower', 'flower rose tulip daisy sunflower blossom bouquet'],
  ['fish', 'fish shark whale dolphin goldfish'],
  ['bird', 'bird gull seagull eagle owl dove swallow parrot crow'],
  ['balloon', 'balloon'],
  ['rocket', 'rocket spaceship spacecraft shuttle'],
  ['circle', 'circle ball sphere dot disc disk ring orb'],
  ['square', 'square cube box block rectangle'],
  ['triangle', 'triangle pyramid'],
  ['star', 'star'],
  ['heart', 'heart love valentine'],
  ['rain', 'rain rainy storm stormy drizzle'],
  ['snow', 'snow snowy snowfall blizzard winter'],
] as const;

// biome-ignore format: a table of colours
const COLORS = new Map(Object.entries({
  red: '#e0342f', crimson: '#b8142c', scarlet: '#f03a1c', orange: '#f58a1f', amber: '#ffb020', gold: '#f0b429',
  golden: '#f0b429', yellow: '#ffd83a', lime: '#a4e034', green: '#2fa84f', emerald: '#12a06f', teal: '#14958f',
  turquoise: '#2cc7bd', cyan: '#25c4ea', blue: '#2f6fe0', navy: '#1b2f6b', indigo: '#4b3fc4', purple: '#8a3fd1',
  violet: '#8f5be8', magenta: '#d834b4', pink: '#f57fb3', brown: '#8a5a34', beige: '#e3cfa8', white: '#fafafa',
  black: '#16181d', grey: '#8b929c', gray: '#8b929c', silver: '#c3c9d1',
}));

// biome-ignore format: a table of numbers
const NUMBERS = new Map(Object.entries({
  one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, several: 4, many: 7,
}));
const COUNT_MAX = 9;
const WORDS_MAX = 400;

/** What needs firm ground. */
export const STANDING: readonly string[] = ['tree', 'house', 'gate', 'car', 'person', 'animal', 'flower'];

/** How many words may stand between a colour, a number or a "no" and the thing that it belongs to. */
const REACH_WORDS = 2;

interface Attributes {
  readonly color?: string | undefined;
  readonly count?: number | undefined;
  readonly isRefused?: boolean;
  readonly age: number;
}

/** Reads a prompt; what the second text names, or what stands behind "no" or "without", is left out. */
export function readScene(prompt: string, unwanted: string): Scene {
  const refused = new Set<string>(wordsOf(unwanted).flatMap((word) => [...thingsIn(word), ...timesIn(word)]));
  const things = new Map<ThingName, Thing>();
  let time: Time | undefined;
  let tint: string | undefined;
  let attributes: Attributes = { age: 0 };
  const end = () => {
    tint ??= attributes.color;
    attributes = { age: 0 };
  };
  for (const word of wordsOf(prompt)) {
    const found = thingsIn(word);
    if (attributes.isRefused !== true) time ??= timesIn(word).find((name) => !refused.has(name));
    if (found.length > 0) {
      for (const name of found) {
        if (attributes.isRefused === true) refused.add(name);
        else things.set(name, { name, color: attributes.color, count: countOf(name, word, attributes.count) });
      }
      attributes = { age: 0 };
    } else if (COLORS.has(word)) {
      tint ??= attributes.color;
      attributes = { ...attributes, color: COLORS.get(word), age: 0 };
    } else if (NUMBERS.has(word) || /^[1-9]$/.test(word)) {
      attributes = { ...attributes, count: NUMBERS.get(word) ?? Number(word), age: 0 };
    } else if (word === 'no' || word === 'without') {
      end();
      attributes = { isRefused: true, age: 0 };
    } else {
      attributes = { ...attributes, age: attributes.age + 1 };
      if (attributes.age > REACH_WORDS) end();
    }
  }
  end();
  return { time: time ?? 'day', things: [...things.values()].filter(({ name }) => !refused.has(name)), tint };
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[a-z]+|\d+/g) ?? []).slice(0, WORDS_MAX);
}

/** The names that each word of a table stands for. */
function indexed<Name extends string>(table: readonly (readonly [Name, string])[]): (word: string) => readonly Name[] {
  const named = new Map<string, Name[]>();
  for (const [name, words] of table) {
    for (const word of words.split(' ')) named.set(word, [...(named.get(word) ?? []), name]);
  }
  // A plural means the same as its singular, unless it is a word of its own.
  const forms = (word: string) => [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')];
  return (word) => named.get(forms(word).find((form) => named.has(form)) ?? '') ?? [];
}

const thingsIn = indexed(THINGS);
const timesIn = indexed(TIMES);

const CROWDS = /^(?:forest|woods?|jungle|orchard|village|bouquet|garden|people)$/;

function countOf(name: ThingName, word: string, stated: number | undefined): number {
  if (stated !== undefined) return stated;
  if (CROWDS.test(word)) return COUNT_MAX;
  const isPlural = word.endsWith('s') && word !== 'grass';
  return isPlural ? 4 : name === 'cloud' ? 3 : 1;
}

/** Colours of a picture: the sky from top to bottom, the ground, and what stands out. */
export interface Palette {
  readonly sky: readonly [string, string];
  readonly far: string;
  readonly ground: string;
  readonly accents: readonly [string, ...string[]];
}

// biome-ignore format: a table of colours
const PALETTES: Readonly<Record<Time, Palette>> = {
  day: { sky: ['#3f8fe0', '#d6efff'], far: '#6f8fb8', ground: '#5fa85a', accents: ['#e2574c', '#f2b134', '#2f6fe0', '#f58fb0'] },
  dusk: { sky: ['#3b2a6b', '#ff9d5c'], far: '#5b3f78', ground: '#5a4a52', accents: ['#ff6b57', '#ffd166', '#8a3fd1', '#ef8fa0'] },
  night: { sky: ['#060b26', '#2b3a78'], far: '#1c2653', ground: '#1d3040', accents: ['#f2c14e', '#7aa5ff', '#e2574c', '#9be0d0'] },
  space: { sky: ['#05030f', '#2a1250'], far: '#3a2a6b', ground: '#2a2340', accents: ['#8f5be8', '#25c4ea', '#ff7a59', '#ffd166'] },
  grey: { sky: ['#6d7a88', '#d5dbe0'], far: '#7f8a96', ground: '#7d8b80', accents: ['#c0584c', '#d6a24a', '#4f76a8', '#a87fa8'] },
};

/** The palette of the time of day, turned a little by the series and towards the scene's own colour. */
export function paletteOf({ time, tint }: Scene, random: Random): Palette {
  const { sky, far, ground, accents } = PALETTES[time];
  const drift = pick(['#ff8f5c', '#5cd0ff', '#c08fff', '#8fffb0', '#ffd88f'], random);
  const own = (color: string) => (tint === undefined ? mix(color, drift, 0.14) : mix(color, tint, 0.45));
  const start = Math.floor(random() * accents.length);
  const turned = [...accents.slice(start), ...accents.slice(0, start)];
  return {
    sky: [own(sky[0]), own(sky[1])],
    far: own(far),
    ground: own(ground),
    accents: [tint ?? turned[0] ?? '', ...turned],
  };
}

/** Part of the way from one colour to another. */
export function mix(from: string, to: string, part: number): string {
  const at = (color: string, index: number) => Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16);
  const channels = [0, 1, 2].map((index) => Math.round(at(from, index) + (at(to, index) - at(from, index)) * part));
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
