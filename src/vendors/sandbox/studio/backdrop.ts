import type { Random } from '../random.ts';
import { curve, polyline, round } from './letters.ts';
import { mix, type Palette, type Scene, STANDING, type Thing, type ThingName } from './scene.ts';

/** Where and how a scene is drawn: its shorter side is 1000 units. */
export interface Stage {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
  readonly random: Random;
  /** How much is drawn: 1 is usual. */
  readonly detail: number;
  /** The angle of the loop in which everything moves. */
  readonly turn: number;
}

type Point = readonly [x: number, y: number];
type Surrounding = (stage: Stage, thing: Thing, scene: Scene) => string;

const TAU = 2 * Math.PI;
/** Drawn beyond the edges, for a camera that moves. */
export const MARGIN = 60;

export function skyOf({ width, height, palette: { sky } }: Stage): string {
  const gradient = `<linearGradient id="sky" x1="0" y1="0" x2="0" y2="0.66"><stop offset="0" stop-color="${sky[0]}"/><stop offset="1" stop-color="${sky[1]}"/></linearGradient>`;
  return `${gradient}<rect x="${-MARGIN}" y="${-MARGIN}" width="${width + 2 * MARGIN}" height="${height + 2 * MARGIN}" fill="url(#sky)"/>`;
}

/** Everything but the sky that surrounds the figures of a scene, from back to front. */
export function surroundings(scene: Scene, stage: Stage, layer: 'back' | 'front'): string {
  const drawn = (name: ThingName, draw: Surrounding) => {
    const thing = scene.things.find((found) => found.name === name);
    return thing === undefined ? '' : draw(stage, thing, scene);
  };
  return (layer === 'back' ? BACK : FRONT).map(([name, draw]) => drawn(name, draw)).join('');
}

export function horizonOf({ height }: Stage): number {
  return height * 0.56;
}

const BACK: readonly (readonly [ThingName, Surrounding])[] = [
  ['stars', stars],
  ['rainbow', rainbow],
  ['sun', sun],
  ['moon', moon],
  ['planet', planet],
  ['cloud', clouds],
  ['mountain', mountains],
  ['city', city],
  ['meadow', hills],
  ['desert', hills],
  ['sea', sea],
];
const FRONT: readonly (readonly [ThingName, Surrounding])[] = [
  ['rain', rain],
  ['snow', snow],
];

function many(count: number, one: (index: number) => string): string {
  return Array.from({ length: Math.round(count) }, (_, index) => one(index)).join('');
}

function stars({ width, height, random, detail, turn }: Stage): string {
  return many(90 * detail, () => {
    const [x, y, size, start] = [random() * width, random() * height * 0.6, 1 + random() * 2.6, random() * TAU];
    const shine = round(0.65 + 0.35 * Math.sin(turn + start));
    return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(size)}" fill="#fff" opacity="${shine}"/>`;
  });
}

function sun(stage: Stage, { color }: Thing, { time }: Scene): string {
  const { width, height, random, detail, turn } = stage;
  const low = time === 'dusk' ? horizonOf(stage) - 60 : height * 0.2;
  const [x, y] = [width * (0.3 + 0.45 * random()), low];
  const fill = color ?? (time === 'dusk' ? '#ff7a3c' : '#ffd83a');
  const rays = many(8 + 8 * detail, (index) => {
    const angle = round((index * 360) / (8 + 8 * detail) + (turn / TAU) * (360 / (8 + 8 * detail)));
    return `<path d="M0 -115L0 -150" transform="rotate(${angle})" stroke="${fill}" stroke-width="9" stroke-linecap="round" opacity="0.75"/>`;
  });
  const glow = [190, 145].map((radius) => `<circle r="${radius}" fill="${fill}" opacity="0.14"/>`).join('');
  return `<g transform="translate(${round(x)} ${round(y)})">${glow}${rays}<circle r="95" fill="${fill}"/></g>`;
}

function moon({ width, height, random }: Stage, { color }: Thing): string {
  const place = `translate(${round(width * (0.6 + 0.25 * random()))} ${round(height * 0.2)})`;
  const fill = color ?? '#fdf6d8';
  return `<g transform="${place}"><circle r="120" fill="${fill}" opacity="0.12"/><path d="M20 -80A82 82 0 1 0 78 46A66 66 0 1 1 20 -80Z" fill="${fill}"/></g>`;
}

function planet({ width, height, random, palette, turn }: Stage, { color }: Thing): string {
  const fill = color ?? palette.accents[0];
  const place = `translate(${round(width * (0.3 + 0.4 * random()))} ${round(height * 0.36 + 8 * Math.sin(turn))}) rotate(-18)`;
  const bands = [-60, -15, 35].map(
    (y) =>
      `<path d="M-130 ${y}Q0 ${y + 26} 130 ${y}" fill="none" stroke="${mix(fill, '#ffffff', 0.35)}" stroke-width="16" opacity="0.6"/>`,
  );
  return `<g transform="${place}"><clipPath id="disc"><circle r="130"/></clipPath><circle r="130" fill="${fill}"/><g clip-path="url(#disc)">${bands.join('')}</g><path d="M-128 22A210 46 0 1 0 128 22" fill="none" stroke="#f3e3c0" stroke-width="12" opacity="0.85"/></g>`;
}

function rainbow(stage: Stage): string {
  const { width } = stage;
  const colors = ['#e0342f', '#f58a1f', '#ffd83a', '#2fa84f', '#2f6fe0', '#8a3fd1'];
  return colors
    .map(
      (color, index) =>
        `<circle cx="${round(width / 2)}" cy="${round(horizonOf(stage))}" r="${round(width * 0.44 - index * 16)}" fill="none" stroke="${color}" stroke-width="17" opacity="0.7"/>`,
    )
    .join('');
}

function clouds({ width, height, random, turn }: Stage, { color, count }: Thing, { time }: Scene): string {
  const fill = color ?? (time === 'night' || time === 'grey' ? '#8f9bb0' : '#ffffff');
  return many(count, (index) => {
    const x = ((index + 0.2 + 0.6 * random()) * width) / count + 30 * Math.sin(turn + index);
    const [y, scale] = [height * (0.08 + 0.22 * random()), 0.7 + 0.6 * random()];
    return `<path transform="translate(${round(x)} ${round(y)}) scale(${round(scale)})" d="M-90 30A36 36 0 0 1 -72 -36A58 58 0 0 1 32 -48A44 44 0 0 1 98 -8A30 30 0 0 1 84 30Z" fill="${fill}" opacity="0.86"/>`;
  });
}

/** A line from the left edge to the right one, closed below. */
function ridge({ width, height }: Stage, points: readonly Point[], fill: string, isCurved: boolean): string {
  const line = isCurved ? curve(points) : polyline(points);
  return `<path d="${line}L${width + MARGIN} ${height + MARGIN}L${-MARGIN} ${height + MARGIN}Z" fill="${fill}"/>`;
}

function across({ width }: Stage, count: number, heightAt: (index: number) => number): Point[] {
  const step = (width + 2 * MARGIN) / count;
  return Array.from({ length: count + 1 }, (_, index) => [index * step - MARGIN, heightAt(index)] as const);
}

function mountains(stage: Stage, { color }: Thing): string {
  const { random, palette } = stage;
  const horizon = horizonOf(stage);
  const fill = color ?? palette.far;
  return [0, 1, 2]
    .slice(stage.detail < 1 ? 1 : 0)
    .map((row) => {
      const peaks = across(
        stage,
        8 + row * 2,
        (index) => horizon + 20 - (index % 2 === 0 ? 20 : (300 - row * 85) * (0.6 + 0.5 * random())),
      );
      const shade = mix(mix(fill, palette.sky[1], 0.5 - row * 0.25), '#101828', row * 0.1);
      const caps = peaks
        .filter((_, index) => index % 2 === 1 && row < 2)
        .map(
          ([x, y]) =>
            `<path d="M${round(x)} ${round(y)}l-22 46l12 -10l12 14l10 -12l14 10Z" fill="#fff" opacity="0.9"/>`,
        );
      return ridge(stage, peaks, shade, false) + caps.join('');
    })
    .join('');
}

function city(stage: Stage, { color }: Thing, { time }: Scene): string {
  const { width, random, palette, detail, turn } = stage;
  const base = horizonOf(stage) + 40;
  const fill = color ?? mix(palette.far, '#39467c', 0.6);
  const lit = time === 'night' || time === 'dusk' || time === 'space' ? '#ffd877' : '#cfe6f5';
  const houses = Math.round(width / 75);
  return (
    many(houses + 2, (index) => {
      const [x, wide, high] = [(index - 1) * 75 - 10 + 20 * random(), 58 + 34 * random(), 110 + 290 * random() ** 1.5];
      const [columns, rows] = [Math.floor(wide / 20), Math.floor(high / 26)];
      const panes = many(columns * rows, (at) => {
        const isLit = random() < 0.3 + 0.3 * detail;
        const blinks = random() < 0.06 && Math.sin(turn + at) < 0;
        if (!isLit || blinks) return '';
        return `M${round(x + 8 + (at % columns) * 20)} ${round(base - high + 12 + Math.floor(at / columns) * 26)}h9v12h-9Z`;
      });
      const tower = mix(fill, palette.sky[1], 0.25 * random());
      return `<rect x="${round(x)}" y="${round(base - high)}" width="${round(wide)}" height="${round(high + 60)}" fill="${tower}"/><path d="${panes}" fill="${lit}" opacity="0.9"/>`;
    }) +
    ridge(
      stage,
      across(stage, 1, () => base + 40),
      mix(palette.ground, '#20242c', 0.4),
      false,
    )
  );
}

function hills(stage: Stage, { name, color }: Thing, scene: Scene): string {
  const { random, palette } = stage;
  const grown = scene.things.some((thing) => thing.name === 'snow') ? '#eef3fa' : palette.ground;
  const fill = color ?? (name === 'desert' ? mix('#e2b66b', palette.sky[1], 0.15) : grown);
  return [0, 1, 2]
    .map((row) => {
      const top = horizonOf(stage) + row * stage.height * 0.09;
      const points = across(stage, 4, () => top + (random() - 0.5) * 110);
      return ridge(stage, points, mix(mix(fill, palette.sky[1], 0.25), mix(fill, '#101010', 0.2), row / 2), true);
    })
    .join('');
}

function sea(stage: Stage, { color }: Thing, scene: Scene): string {
  const { width, height, palette, turn } = stage;
  const fill = color ?? mix('#1f78b8', palette.sky[0], 0.3);
  const top = horizonOf(stage) + 10;
  const body = ridge(
    stage,
    across(stage, 1, () => top),
    mix(fill, palette.sky[1], 0.35),
    false,
  );
  const rows = Math.round(4 + 3 * stage.detail);
  const waves = many(rows, (row) => {
    const [y, length] = [top + 24 + ((height - top) * row) / rows, 90 + row * 26];
    const shift = ((row % 2 === 0 ? turn : -turn) / TAU) * length;
    const count = Math.ceil((width + 4 * MARGIN) / length) * 2 + 4;
    const points = Array.from(
      { length: count },
      (_, index) => [index * (length / 2) - 2 * MARGIN - length + shift, y + (index % 2 === 0 ? -11 : 11)] as const,
    );
    return `<path d="${curve(points)}L${width + MARGIN} ${height + MARGIN}L${-MARGIN} ${height + MARGIN}Z" fill="${mix(fill, '#071a33', (0.55 * row) / rows)}"/>`;
  });
  const hasShore = scene.things.some(({ name }) => STANDING.includes(name));
  const shore = across(stage, 5, (index) => top + height * (0.075 + 0.02 * (index % 2)));
  return body + waves + (hasShore ? ridge(stage, shore, mix('#dcc48c', palette.ground, 0.35), true) : '');
}

function rain({ width, height, random, detail, turn }: Stage): string {
  const drops = many(150 * detail, () => {
    const [x, start] = [random() * width * 1.2, random()];
    const y = ((start + (2 * turn) / TAU) % 1) * (height + 80) - 40;
    return `M${round(x - y * 0.12)} ${round(y)}l-6 34`;
  });
  return `<path d="${drops}" stroke="#dcecff" stroke-width="3" stroke-linecap="round" opacity="0.65"/>`;
}

function snow({ width, height, random, detail, turn }: Stage): string {
  return many(130 * detail, (index) => {
    const [x, start, size] = [random() * width, random(), 3 + random() * 5];
    const y = ((start + turn / TAU) % 1) * (height + 20) - 10;
    return `<circle cx="${round(x + 14 * Math.sin(turn + index))}" cy="${round(y)}" r="${round(size)}" fill="#fff" opacity="0.9"/>`;
  });
}
