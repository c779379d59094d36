import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSize, isTier, pixelsOf, sizeFor } from './image-size.ts';

const SIZES: readonly [shape: string | undefined, tier: string | undefined, size: string | undefined][] = [
  [undefined, '1k', '1024x1024'],
  [undefined, '2k', '2048x2048'],
  [undefined, '4k', '2880x2880'],
  ['1:1', undefined, '1024x1024'],
  ['16:9', undefined, '1280x720'],
  ['16:9', '2K', '2560x1440'],
  ['16:9', '4K', '3840x2160'],
  ['9:16', '4k', '2160x3840'],
  ['4:3', '1k', '1152x864'],
  ['3:2', '1k', '1248x832'],
  ['2:3', '2k', '1664x2496'],
  ['21:9', '1k', '1456x624'],
  ['5:4', '1k', '1120x896'],
  ['3:1', '1k', '1728x576'],
  ['1:3', '4k', '1280x3840'],
  ['2.39:1', '1k', '1568x656'],
  ['32:18', '1k', '1280x720'],
  ['301:100', '1k', undefined],
  ['1:3.01', '1k', undefined],
  ['0:1', '1k', undefined],
  ['1:0', '1k', undefined],
  ['wide', '1k', undefined],
  ['1:1:1', '1k', undefined],
  ['1:1', '3k', undefined],
];

for (const [shape, tier, size] of SIZES) {
  test(`the shape ${shape} at ${tier} is drawn as ${size}`, () => assert.equal(sizeFor(shape, tier, false), size));
}

test('every shape from 1:3 to 3:1 has a size in every tier that the models take, and of nearly that shape', () => {
  const side = fc.integer({ min: 1, max: 9999 });
  const shapes = fc.tuple(side, side).filter(([wide, high]) => wide <= 3 * high && high <= 3 * wide);
  fc.assert(
    fc.property(shapes, fc.constantFrom('1k', '2k', '4k'), ([wide, high], tier) => {
      const size = sizeFor(`${wide}:${high}`, tier, false);
      assert.ok(size !== undefined && isSize(size, false), `${wide}:${high} at ${tier} is ${size}`);
      const [width = 0, height = 0] = size.split('x').map(Number);
      assert.ok(Math.abs((width * high) / (height * wide) - 1) < 0.03, `${wide}:${high} at ${tier} is ${size}`);
    }),
  );
});

test('older models have one tier and three shapes', () => {
  const sizes = ['1:1', '6:4', '2:3', '16:9'].map((shape) => sizeFor(shape, undefined, true));
  assert.deepEqual(sizes, ['1024x1024', '1536x1024', '1024x1536', undefined]);
  assert.deepEqual([isTier('1k', true), isTier('2k', true)], [true, false]);
  assert.deepEqual([isSize('1536x1024', true), isSize('auto', true), isSize('1280x720', true)], [true, true, false]);
});

const BOUNDS: readonly [within: string, beyond: string, name: string][] = [
  ['1024x1024', '1024x1023', 'the step'],
  ['3840x2160', '3856x2128', 'the longest side'],
  ['2880x2880', '2880x2896', 'the most pixels'],
  ['1024x640', '1008x640', 'the fewest pixels'],
  ['1728x576', '1744x576', 'the shape'],
  ['576x1728', '576x1744', 'the shape, upright'],
];

for (const [within, beyond, name] of BOUNDS) {
  test(`${name} of a size is bounded`, () => {
    assert.deepEqual([isSize(within, false), isSize(beyond, false)], [true, false]);
  });
}

test('what is no size is none', () => {
  for (const size of ['', '1024', '1024X1024', '1024x', '-1024x1024', '1024x1024x1024', '1e3x1024', '0x0', 'large']) {
    assert.equal(isSize(size, false), false, size);
  }
});

test('a size that is left to the upstream counts as a middling one', () => {
  assert.deepEqual([pixelsOf('1024x640'), pixelsOf('auto'), pixelsOf(undefined)], [655_360, 2_359_296, 2_359_296]);
});
