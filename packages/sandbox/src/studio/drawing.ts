import { seriesOf } from '../random.ts';
import { drawBehind, drawInFront, drawLight, drawSky, MARGIN, type Stage } from './backdrop.ts';
import { write } from './letters.ts';
import { curve, many, type Point, round } from './paths.ts';
import { mix, paletteOf, readScene, type Scene, STANDING, type Thing } from './scene.ts';
import { drawFigure, isFigure, OWN_COLORS } from './things.ts';

/** What is asked of one drawing. */
export interface Sketch {
  readonly prompt: string;
  readonly unwanted: string;
  readonly seed: string;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly detail: number;
  /** What is behind: a sky; nothing; or a picture, of which what the prompt names must leave something to be seen. */
  readonly behind: 'sky' | 'nothing' | 'picture';
}

/** From 0 to 1, round and round; a picture stands still. */
export interface Moment {
  readonly phase: number;
  readonly isCameraFixed: boolean;
}

/** SVG of the scene that the prompt describes; the same sketch and moment give the same drawing. */
export function drawScene(sketch: Sketch, moment: Moment = { phase: 0, isCameraFixed: true }): string {
  const named = readScene(sketch.prompt, sketch.unwanted);
  const scene = sketch.behind === 'sky' ? completed(named) : named;
  const random = seriesOf(`${sketch.seed}/scene`);
  const view = viewOf(sketch);
  const turn = 2 * Math.PI * moment.phase;
  const palette = paletteOf(scene, random);
  const stage: Stage = { ...view, horizon: view.height * 0.56, palette, random, detail: sketch.detail, turn };
  const [sky, light] = sketch.behind === 'sky' ? [drawSky(stage), drawLight(stage)] : ['', ''];
  const far = `<g opacity="${sketch.behind === 'picture' ? 0.6 : 1}">${drawBehind(scene, stage)}</g>`;
  const middle = scene.things.length === 0 ? ribbons(stage) : figures(scene, stage);
  const [aside, up] = moment.isCameraFixed ? [0, 0] : [MARGIN * 0.6 * Math.sin(turn), 8 * Math.sin(2 * turn)];
  const parts = [sky, far, middle, drawInFront(scene, stage), light].join('');
  return svg(sketch, view, `<g transform="translate(${round(aside)} ${round(up)})">${parts}</g>`);
}

/** How many times its height a drawing may be wide. */
const LENGTH_MAX = 8;

interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** The same shape with 1000 units on its shorter side, or fewer in a very long one, which would hold too much. */
function viewOf({ width, height }: Pixels): Pixels {
  const unit = 1000 / Math.max(Math.min(width, height), Math.max(width, height) / LENGTH_MAX);
  return { width: round(width * unit), height: round(height * unit) };
}

function svg({ width, height }: Pixels, view: Pixels, inner: string): string {
  const box = `viewBox="0 0 ${view.width} ${view.height}" preserveAspectRatio="none"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${box}>${inner}</svg>`;
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
  const kinds = scene.things.filter(({ name }) => isFigure(name));
  return many(kinds.length, (index) => {
    const thing = kinds[index];
    if (thing === undefined) return '';
    const room = thing.count > 1 ? [0.08, 0.84] : [0.06 + (0.88 * index) / kinds.length, 0.88 / kinds.length];
    const [left = 0, width = 1] = room;
    return many(thing.count, (at) => figure(scene, stage, thing, (part) => left + (width * (at + part)) / thing.count));
  });
}

function figure(scene: Scene, stage: Stage, { name, color, count }: Thing, across: (part: number) => number): string {
  const { width, height, horizon, random, palette } = stage;
  const accent = palette.accents[name.length % palette.accents.length] ?? palette.accents[0];
  const [depth, x] = [random(), across(0.3 + 0.4 * random())];
  const [isPlain, isFlying] = [PLAIN.includes(name), FLYING.includes(name)];
  const size = ((isPlain ? 3.8 : isFlying ? 1.5 : 2.3) / (1 + 0.14 * (count - 1))) * (0.85 + 0.3 * depth);
  const isBeforeShore = SAILING.includes(name) && scene.things.some((thing) => STANDING.includes(thing.name));
  const onGround = horizon + height * (isBeforeShore ? 0.055 : 0.1 + 0.1 * depth);
  const y = isPlain ? height * 0.44 + 50 * size : isFlying ? height * (0.2 + 0.2 * depth) : onGround;
  const look = { isNight: scene.time === 'night' || scene.time === 'dusk', turn: stage.turn + (count > 1 ? 7 * x : 0) };
  const drawn = drawFigure(name, { ...look, color: color ?? OWN_COLORS[name] ?? accent });
  return `<g transform="translate(${round(width * x)} ${round(y)}) scale(${round(size)})">${drawn}</g>`;
}

/** For words that name nothing that can be drawn: bands of colour and discs. */
function ribbons({ width, height, palette: { accents }, random, turn, detail }: Stage): string {
  const colorOf = (index: number) => mix(accents[index % accents.length] ?? accents[0], '#ffffff', 0.25 * random());
  const bands = many(4 + 3 * detail, (index) => {
    const [level, swing, start] = [height * (0.15 + 0.7 * random()), height * (0.08 + 0.14 * random()), random() * 7];
    const step = (width + 2 * MARGIN) / 7;
    const heightAt = (at: number) => level + swing * Math.sin(at * 1.7 + start + turn);
    const points = Array.from({ length: 8 }, (_, at): Point => [at * step - MARGIN, heightAt(at)]);
    const paint = `stroke="${colorOf(index)}" stroke-width="${round(30 + 90 * random())}"`;
    return `<path d="${curve(points)}" fill="none" ${paint} stroke-linecap="round" opacity="0.6"/>`;
  });
  const discs = many(5, (index) => {
    const x = width * random() + 20 * Math.cos(turn + index);
    const y = height * 0.75 * random() + 20 * Math.sin(turn + index);
    const radius = round(40 + 110 * random());
    return `<circle cx="${round(x)}" cy="${round(y)}" r="${radius}" fill="${colorOf(index + 1)}" opacity="0.5"/>`;
  });
  return bands + discs;
}

/** SVG of the panel that says what was asked: the prompt large, the particulars small. */
export function drawCaption(pixels: Pixels, prompt: string, particulars: string): string {
  const view = viewOf(pixels);
  // Letters of a small picture are larger in proportion, or they could not be read.
  const [large, small] = Math.min(pixels.width, pixels.height) < 400 ? [46, 36] : [34, 23];
  const sheet = { x: 44, y: 0, widthMax: view.width - 88, color: '#ffffff' };
  const bottom = view.height - 42;
  const words = (y: number) => write(prompt, { ...sheet, y, size: large, linesMax: 3 });
  const top = bottom - small * 2.2 - words(0).height;
  const facts = write(particulars, { ...sheet, y: bottom - small * 1.3, size: small, linesMax: 1, color: '#d6deea' });
  const area = `x="20" y="${round(top - 26)}" width="${view.width - 40}" height="${round(view.height - top + 6)}"`;
  const panel = `<rect ${area} rx="18" fill="#0b1020" opacity="0.62"/>`;
  return svg(pixels, view, panel + words(top).svg + facts.svg);
}

/** SVG of the scene's own colour, thin, over everything. */
export function drawVeil(sketch: Omit<Sketch, 'behind'>): string {
  const { accents } = paletteOf(readScene(sketch.prompt, sketch.unwanted), () => 0);
  const veil = `<rect width="1000" height="1000" fill="${accents[0]}" opacity="0.3"/>`;
  return svg(sketch, { width: 1000, height: 1000 }, veil);
}

/** SVG of a mark across the whole picture. */
export function drawWatermark(pixels: Pixels): string {
  const mark = write('SANDBOX', { x: 0, y: 0, size: 70, widthMax: 1000, linesMax: 1, color: '#ffffff' }).svg;
  const rows = many(
    3,
    (row) => `<g transform="translate(${120 + 130 * row} ${180 + 300 * row}) rotate(-20)">${mark}</g>`,
  );
  return svg(pixels, { width: 1000, height: 1000 }, `<g opacity="0.34">${rows}</g>`);
}
