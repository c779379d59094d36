import type { Random } from '../random.ts';
import { curve, many, type Point, polyline, round } from './paths.ts';
import { mix, type Palette, type Scene, STANDING, type Thing, type ThingName } from './scene.ts';

/** Where and how a scene is drawn: its shorter side is 1000 units. */
export interface Stage {
  readonly width: number;
  readonly height: number;
  /** How far down the sky reaches. */
  readonly horizon: number;
  readonly palette: Palette;
  readonly random: Random;
  /** How much is drawn: 1 is usual. */
  readonly detail: number;
  /** The angle of the loop in which everything moves. */
  readonly turn: number;
}

type Surrounding = (stage: Stage, thing: Thing, scene: Scene) => string;

const TAU = 2 * Math.PI;
/** Drawn beyond the edges, for a camera that moves. */
export const MARGIN = 60;

const BEHIND: readonly (readonly [ThingName, Surrounding])[] = [
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
const IN_FRONT: readonly (readonly [ThingName, Surrounding])[] = [
  ['rain', rain],
  ['snow', snow],
];

export function drawSky(stage: Stage): string {
  const [top, bottom] = stage.palette.sky;
  const stops = `<stop offset="0" stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/>`;
  const gradient = `<linearGradient id="sky" x1="0" y1="0" x2="0" y2="0.66">${stops}</linearGradient>`;
  return `${gradient}<rect ${wholeOf(stage)} fill="url(#sky)"/>`;
}

/** Everything behind the figures of a scene. */
export function drawBehind(scene: Scene, stage: Stage): string {
  return drawnOf(BEHIND, scene, stage);
}

/** What falls in front of everything. */
export function drawInFront(scene: Scene, stage: Stage): string {
  return drawnOf(IN_FRONT, scene, stage);
}

/** Light from above and dark corners, for a picture of high quality. */
export function drawLight(stage: Stage): string {
  const stop = (at: number, color: string, opacity: number) =>
    `<stop offset="${at}" stop-color="${color}" stop-opacity="${opacity}"/>`;
  const stops = stop(0, '#fff', 0.28) + stop(0.5, '#fff', 0) + stop(0.55, '#000', 0) + stop(1, '#000', 0.55);
  const gradient = `<radialGradient id="light" cx="0.5" cy="0.35" r="0.8">${stops}</radialGradient>`;
  return stage.detail > 1 ? `${gradient}<rect ${wholeOf(stage)} fill="url(#light)"/>` : '';
}

function wholeOf({ width, height }: Stage): string {
  return `x="${-MARGIN}" y="${-MARGIN}" width="${width + 2 * MARGIN}" height="${height + 2 * MARGIN}"`;
}

function drawnOf(list: typeof BEHIND, scene: Scene, stage: Stage): string {
  const drawn = list.map(([name, draw]) => {
    const thing = scene.things.find((found) => found.name === name);
    return thing === undefined ? '' : draw(stage, thing, scene);
  });
  return drawn.join('');
}

const at = (x: number, y: number) => `translate(${round(x)} ${round(y)})`;
const disc = (x: number, y: number, radius: number, paint: string) =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" ${paint}/>`;

function stars({ width, height, random, detail, turn }: Stage): string {
  return many(90 * detail, () => {
    const [x, y, radius] = [random() * width, random() * height * 0.6, 1 + random() * 2.6];
    return disc(x, y, radius, `fill="#fff" opacity="${round(0.65 + 0.35 * Math.sin(turn + random() * TAU))}"`);
  });
}

function sun({ width, height, horizon, random, detail, turn }: Stage, { color }: Thing, { time }: Scene): string {
  const fill = color ?? (time === 'dusk' ? '#ff7a3c' : '#ffd83a');
  const count = 8 + 8 * detail;
  const rays = many(count, (index) => {
    const angle = round(((index + turn / TAU) * 360) / count);
    return `<path d="M0 -115V-150" transform="rotate(${angle})" stroke="${fill}" stroke-width="9" stroke-linecap="round" opacity="0.75"/>`;
  });
  const glow = disc(0, 0, 190, `fill="${fill}" opacity="0.14"`) + disc(0, 0, 145, `fill="${fill}" opacity="0.14"`);
  const place = at(width * (0.3 + 0.45 * random()), time === 'dusk' ? horizon - 60 : height * 0.2);
  return `<g transform="${place}">${glow}${rays}${disc(0, 0, 95, `fill="${fill}"`)}</g>`;
}

function moon({ width, height, random }: Stage, { color = '#fdf6d8' }: Thing): string {
  const crescent = `<path d="M20 -80A82 82 0 1 0 78 46A66 66 0 1 1 20 -80Z" fill="${color}"/>`;
  const glow = disc(0, 0, 120, `fill="${color}" opacity="0.12"`);
  return `<g transform="${at(width * (0.6 + 0.25 * random()), height * 0.2)}">${glow}${crescent}</g>`;
}

function planet({ width, height, random, palette, turn }: Stage, { color = palette.accents[0] }: Thing): string {
  const bands = `<path d="M-114 -60Q0 -36 114 -60M-129 -15Q0 11 129 -15M-125 35Q0 61 125 35" fill="none" stroke="${mix(color, '#ffffff', 0.35)}" stroke-width="16" opacity="0.6"/>`;
  const ring = '<path d="M-128 22A210 46 0 1 0 128 22" fill="none" stroke="#f3e3c0" stroke-width="12" opacity="0.85"/>';
  const place = at(width * (0.3 + 0.4 * random()), height * 0.36 + 8 * Math.sin(turn));
  return `<g transform="${place} rotate(-18)">${disc(0, 0, 130, `fill="${color}"`)}${bands}${ring}</g>`;
}

function rainbow({ width, horizon }: Stage): string {
  const colors = ['#e0342f', '#f58a1f', '#ffd83a', '#2fa84f', '#2f6fe0', '#8a3fd1'];
  return many(colors.length, (index) => {
    const paint = `fill="none" stroke="${colors[index]}" stroke-width="17" opacity="0.7"`;
    return disc(width / 2, horizon, width * 0.44 - index * 16, paint);
  });
}

function clouds({ width, height, random, turn }: Stage, { color, count }: Thing, { time }: Scene): string {
  const fill = color ?? (time === 'night' || time === 'grey' ? '#8f9bb0' : '#ffffff');
  return many(count, (index) => {
    const x = ((index + 0.2 + 0.6 * random()) * width) / count + 30 * Math.sin(turn + index);
    const place = `${at(x, height * (0.08 + 0.22 * random()))} scale(${round(0.7 + 0.6 * random())})`;
    return `<path transform="${place}" d="M-90 30A36 36 0 0 1 -72 -36A58 58 0 0 1 32 -48A44 44 0 0 1 98 -8A30 30 0 0 1 84 30Z" fill="${fill}" opacity="0.86"/>`;
  });
}

/** Everything below a line from the left edge to the right one. */
function land({ width, height }: Stage, line: string, fill: string): string {
  return `<path d="${line}L${width + MARGIN} ${height + MARGIN}L${-MARGIN} ${height + MARGIN}Z" fill="${fill}"/>`;
}

function across({ width }: Stage, count: number, heightAt: (index: number) => number): Point[] {
  const step = (width + 2 * MARGIN) / count;
  return Array.from({ length: count + 1 }, (_, index) => [index * step - MARGIN, heightAt(index)] as const);
}

function mountains(stage: Stage, { color }: Thing): string {
  const { random, palette, horizon } = stage;
  return many(3, (row) => {
    const heightAt = (index: number) =>
      index % 2 === 0 ? horizon : horizon + 20 - (300 - row * 85) * (0.6 + 0.5 * random());
    const peaks = across(stage, 8 + row * 2, heightAt);
    const shade = mix(mix(color ?? palette.far, palette.sky[1], 0.5 - row * 0.25), '#101828', row * 0.1);
    const snow = peaks.map(([x, y], index) =>
      index % 2 === 1 && row < 2 ? `M${round(x)} ${round(y)}l-22 46l12 -10l12 14l10 -12l14 10Z` : '',
    );
    return `${land(stage, polyline(peaks), shade)}<path d="${snow.join('')}" fill="#fff" opacity="0.9"/>`;
  });
}

function city(stage: Stage, { color }: Thing, { time }: Scene): string {
  const { width, random, palette, detail, turn } = stage;
  const street = stage.horizon + 40;
  const lit = time === 'day' || time === 'grey' ? '#cfe6f5' : '#ffd877';
  const towers = many(width / 75 + 2, (index) => {
    const [x, wide, high] = [(index - 1) * 75 - 10 + 20 * random(), 58 + 34 * random(), 110 + 290 * random() ** 1.5];
    const columns = Math.floor(wide / 20);
    const panes = many(columns * Math.floor(high / 26), (pane) => {
      const isDark = random() > 0.3 + 0.3 * detail || (random() < 0.06 && Math.sin(turn + pane) < 0);
      const [left, top] = [x + 8 + (pane % columns) * 20, street - high + 12 + Math.floor(pane / columns) * 26];
      return isDark ? '' : `M${round(left)} ${round(top)}h9v12h-9Z`;
    });
    const fill = mix(color ?? mix(palette.far, '#39467c', 0.6), palette.sky[1], 0.25 * random());
    const walls = `<path d="M${round(x)} ${street + 60}v${round(-high - 60)}h${round(wide)}v${round(high + 60)}Z" fill="${fill}"/>`;
    return `${walls}<path d="${panes}" fill="${lit}" opacity="0.9"/>`;
  });
  const ground = across(stage, 1, () => street + 40);
  return towers + land(stage, polyline(ground), mix(palette.ground, '#20242c', 0.4));
}

function hills(stage: Stage, { name, color }: Thing, { things }: Scene): string {
  const { random, palette, horizon, height } = stage;
  const grown = things.some((thing) => thing.name === 'snow') ? '#eef3fa' : palette.ground;
  const fill = color ?? (name === 'desert' ? mix('#e2b66b', palette.sky[1], 0.15) : grown);
  return many(3, (row) => {
    const points = across(stage, 4, () => horizon + row * height * 0.09 + (random() - 0.5) * 110);
    return land(stage, curve(points), mix(mix(fill, palette.sky[1], 0.25), mix(fill, '#101010', 0.2), row / 2));
  });
}

function sea(stage: Stage, { color }: Thing, { things }: Scene): string {
  const { width, height, palette, turn } = stage;
  const fill = color ?? mix('#1f78b8', palette.sky[0], 0.3);
  const top = stage.horizon + 10;
  const rows = Math.round(4 + 3 * stage.detail);
  const waves = many(rows, (row) => {
    const [y, length] = [top + 24 + ((height - top) * row) / rows, 90 + row * 26];
    // One wave further when the loop ends, to one side or the other.
    const start = ((row % 2 === 0 ? turn : -turn) / TAU) * length - 2 * MARGIN - length;
    const count = Math.ceil((width + 4 * MARGIN) / length) * 2 + 4;
    const points = Array.from(
      { length: count },
      (_, index): Point => [start + (index * length) / 2, y + (index % 2 === 0 ? -11 : 11)],
    );
    return land(stage, curve(points), mix(fill, '#071a33', (0.55 * row) / rows));
  });
  const far = land(stage, polyline(across(stage, 1, () => top)), mix(fill, palette.sky[1], 0.35));
  const shore = across(stage, 5, (index) => top + height * (0.075 + 0.02 * (index % 2)));
  const hasShore = things.some(({ name }) => STANDING.includes(name));
  return far + waves + (hasShore ? land(stage, curve(shore), mix('#dcc48c', palette.ground, 0.35)) : '');
}

function rain({ width, height, random, detail, turn }: Stage): string {
  const drops = many(150 * detail, () => {
    const [x, y] = [random() * width * 1.2, ((random() + (2 * turn) / TAU) % 1) * (height + 80) - 40];
    return `M${round(x - y * 0.12)} ${round(y)}l-6 34`;
  });
  return `<path d="${drops}" stroke="#dcecff" stroke-width="3" stroke-linecap="round" opacity="0.65"/>`;
}

function snow({ width, height, random, detail, turn }: Stage): string {
  return many(130 * detail, (index) => {
    const [x, y] = [random() * width + 14 * Math.sin(turn + index), ((random() + turn / TAU) % 1) * (height + 20) - 10];
    return disc(x, y, 3 + random() * 5, 'fill="#fff" opacity="0.9"');
  });
}
