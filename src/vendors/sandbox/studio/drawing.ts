import { seriesOf } from '../random.ts';
import { horizonOf, MARGIN, type Stage, skyOf, surroundings } from './backdrop.ts';
import { curve, round, write } from './letters.ts';
import { mix, paletteOf, readScene, type Scene, STANDING, type Thing } from './scene.ts';
import { FIGURES, OWN_COLORS } from './things.ts';

/** What is asked of one drawing. */
export interface Sketch {
  readonly prompt: string;
  readonly unwanted: string;
  readonly seed: string;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly detail: number;
  /** Without sky and ground, to be laid over something. */
  readonly isCutOut: boolean;
}

/** From 0 to 1, round and round; a picture stands still. */
export interface Moment {
  readonly phase: number;
  readonly isCameraFixed: boolean;
}

/** SVG of the scene that the prompt describes; the same sketch and moment give the same drawing. */
export function drawScene(
  sketch: Sketch,
  { phase, isCameraFixed }: Moment = { phase: 0, isCameraFixed: true },
): string {
  const scene = completed(readScene(sketch.prompt, sketch.unwanted));
  const random = seriesOf(`${sketch.seed}/scene`);
  const unit = 1000 / Math.min(sketch.width, sketch.height);
  const [width, height] = [round(sketch.width * unit), round(sketch.height * unit)];
  const turn = 2 * Math.PI * phase;
  const stage: Stage = { width, height, palette: paletteOf(scene, random), random, detail: sketch.detail, turn };
  const isOpen = !sketch.isCutOut;
  const parts = [
    isOpen ? skyOf(stage) : '',
    isOpen ? surroundings(scene, stage, 'back') : '',
    scene.things.length === 0 ? ribbons(stage) : figures(scene, stage),
    isOpen ? surroundings(scene, stage, 'front') : '',
    isOpen && sketch.detail > 1 ? light(stage) : '',
  ];
  const sway = isCameraFixed
    ? ''
    : ` transform="translate(${round(MARGIN * 0.6 * Math.sin(turn))} ${round(8 * Math.sin(2 * turn))})"`;
  return svg(sketch, { width, height }, `<g${sway}>${parts.join('')}</g>`);
}

export function svg(
  pixels: { width: number; height: number },
  view: { width: number; height: number },
  inner: string,
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${pixels.width}" height="${pixels.height}" viewBox="0 0 ${view.width} ${view.height}" preserveAspectRatio="none">${inner}</svg>`;
}

const GROUNDS = ['sea', 'desert', 'meadow', 'city'];
const SAILING = ['boat', 'fish'];

/** Adds what a scene cannot do without: stars to a night, water to a boat, ground to what stands. */
function completed(scene: Scene): Scene {
  const has = (names: readonly string[]) => scene.things.some(({ name }) => names.includes(name));
  const added: Thing[] = [];
  const add = (name: Thing['name']) => added.push({ name, color: undefined, count: 1 });
  if (scene.things.length > 0 && (scene.time === 'night' || scene.time === 'space')) add('stars');
  if (has(SAILING)) add('sea');
  else if ((has(STANDING) || has(['mountain'])) && !has(GROUNDS) && scene.time !== 'space') add('meadow');
  return { ...scene, things: [...scene.things, ...added.filter(({ name }) => !has([name]))] };
}

const FLYING = ['bird', 'balloon', 'rocket'];
const PLAIN = ['circle', 'square', 'triangle', 'star', 'heart'];

/** Every kind of figure has a part of the width to itself, or all of it if there are many of the kind. */
function figures(scene: Scene, stage: Stage): string {
  const kinds = scene.things.filter(({ name }) => FIGURES[name] !== undefined);
  return kinds
    .map((thing, index) => {
      const room =
        thing.count > 1
          ? { from: 0.08, to: 0.92 }
          : { from: 0.06 + (0.88 * index) / kinds.length, to: 0.06 + (0.88 * (index + 1)) / kinds.length };
      return Array.from({ length: thing.count }, (_, at) => figure(scene, thing, stage, { ...room, at })).join('');
    })
    .join('');
}

function figure(
  scene: Scene,
  { name, color, count }: Thing,
  stage: Stage,
  room: { from: number; to: number; at: number },
): string {
  const { width, height, random, palette } = stage;
  const isPlain = PLAIN.includes(name);
  const isFlying = FLYING.includes(name);
  const fill = color ?? OWN_COLORS[name] ?? palette.accents[name.length % palette.accents.length] ?? palette.accents[0];
  const [depth, jitter] = [random(), random()];
  const size = ((isPlain ? 3.8 : isFlying ? 1.5 : 2.3) / (1 + 0.14 * (count - 1))) * (0.85 + 0.3 * depth);
  const x = width * (room.from + ((room.to - room.from) * (room.at + 0.3 + 0.4 * jitter)) / count);
  const turn = stage.turn + (count > 1 ? room.at : 0);
  const hasShore = SAILING.includes(name) && scene.things.some((thing) => STANDING.includes(thing.name));
  const onGround = horizonOf(stage) + height * (hasShore ? 0.055 : 0.1 + 0.1 * depth);
  const floating = height * 0.44 + 50 * size + 10 * Math.sin(turn);
  const y = isPlain ? floating : isFlying ? height * (0.2 + 0.2 * depth) : onGround;
  const drawn = FIGURES[name]?.({ color: fill, isNight: scene.time === 'night' || scene.time === 'dusk', turn });
  return `<g transform="translate(${round(x)} ${round(y)}) scale(${round(size)})">${drawn}</g>`;
}

/** For words that name nothing that can be drawn: bands of colour. */
function ribbons({ width, height, palette, random, turn, detail }: Stage): string {
  const bands = Array.from({ length: Math.round(4 + 3 * detail) }, (_, index) => {
    const [level, swing, start] = [height * (0.15 + 0.7 * random()), height * (0.08 + 0.14 * random()), random() * 7];
    const color = palette.accents[index % palette.accents.length] ?? palette.accents[0];
    const points = Array.from(
      { length: 8 },
      (__, at) =>
        [(at / 7) * (width + 2 * MARGIN) - MARGIN, level + swing * Math.sin(at * 1.7 + start + turn)] as const,
    );
    return `<path d="${curve(points)}" fill="none" stroke="${mix(color, '#ffffff', 0.25 * random())}" stroke-width="${round(30 + 90 * random())}" stroke-linecap="round" opacity="0.6"/>`;
  });
  const discs = Array.from({ length: 5 }, (_, index) => {
    const color = palette.accents[(index + 1) % palette.accents.length] ?? palette.accents[0];
    const [x, y] = [
      width * random() + 20 * Math.cos(turn + index),
      height * 0.75 * random() + 20 * Math.sin(turn + index),
    ];
    return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(40 + 110 * random())}" fill="${color}" opacity="0.5"/>`;
  });
  return bands.join('') + discs.join('');
}

/** Light from above and darker corners, for a picture of high quality. */
function light({ width, height }: Stage): string {
  const area = `x="${-MARGIN}" y="${-MARGIN}" width="${width + 2 * MARGIN}" height="${height + 2 * MARGIN}"`;
  return `<radialGradient id="light" cx="0.5" cy="0.35" r="0.8"><stop offset="0" stop-color="#fff" stop-opacity="0.28"/><stop offset="0.5" stop-color="#fff" stop-opacity="0"/><stop offset="0.55" stop-color="#000" stop-opacity="0"/><stop offset="1" stop-color="#000" stop-opacity="0.55"/></radialGradient><rect ${area} fill="url(#light)"/>`;
}

/** SVG of the panel that says what was asked: the prompt large, the particulars small. */
export function drawCaption(pixels: { width: number; height: number }, prompt: string, particulars: string): string {
  const shorter = Math.min(pixels.width, pixels.height);
  // Letters of a small picture are larger in proportion, or nobody could read them.
  const [large, small] = shorter < 400 ? [46, 36] : [34, 23];
  const view = { width: round((pixels.width * 1000) / shorter), height: round((pixels.height * 1000) / shorter) };
  const sheet = { x: 44, widthMax: view.width - 88 };
  const lines = (bottom: number) => {
    const facts = write(particulars, { ...sheet, y: bottom - small * 1.3, size: small, linesMax: 1, color: '#d6deea' });
    const room = { ...sheet, size: large, linesMax: 3, color: '#ffffff' };
    const top = bottom - small * 2.2 - write(prompt, { ...room, y: 0 }).height;
    return { top, inner: prompt.trim() === '' ? facts.svg : write(prompt, { ...room, y: top }).svg + facts.svg };
  };
  const { top, inner } = lines(view.height - 42);
  const box = `<rect x="20" y="${round(top - 26)}" width="${view.width - 40}" height="${round(view.height - top + 6)}" rx="18" fill="#0b1020" opacity="0.62"/>`;
  return svg(pixels, view, box + inner);
}

/** SVG of a mark across the whole picture. */
export function drawWatermark(pixels: { width: number; height: number }): string {
  const mark = write('SANDBOX', { x: 0, y: 0, size: 70, widthMax: 1000, linesMax: 1, color: '#ffffff' });
  const rows = [180, 480, 780].map(
    (y, index) => `<g transform="translate(${120 + 130 * index} ${y}) rotate(-20)" opacity="0.34">${mark.svg}</g>`,
  );
  return svg(pixels, { width: 1000, height: 1000 }, rows.join(''));
}
