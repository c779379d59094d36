import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AMOUNT_MICRO_MAX, creditsFromNumber, creditsToNumber, creditsToText, decimalFromNumber } from './credits.ts';

const amount = fc.bigInt({ min: -AMOUNT_MICRO_MAX, max: AMOUNT_MICRO_MAX });

test('R-168: every amount is the same again after it was written as JSON', () => {
  const back = (micro: bigint) => creditsFromNumber(JSON.parse(JSON.stringify(creditsToNumber(micro))));
  fc.assert(
    fc.property(amount, (micro) => assert.equal(back(micro), micro)),
    { numRuns: 5000 },
  );
  for (const micro of [AMOUNT_MICRO_MAX, AMOUNT_MICRO_MAX - 1n, -AMOUNT_MICRO_MAX, 1n, -1n, 0n]) {
    assert.equal(back(micro), micro);
  }
});

test('R-168: an amount is printed with at most six decimals and without an exponent', () => {
  const small = fc.bigInt({ min: -1000n, max: 1000n });
  fc.assert(
    fc.property(fc.oneof(amount, small), (micro) => {
      assert.match(JSON.stringify(creditsToNumber(micro)), /^-?\d+(\.\d{1,6})?$/);
    }),
    { numRuns: 1000 },
  );
});

const READ: readonly (readonly [credits: number, micro: bigint | undefined])[] = [
  [0, 0n],
  [-0, 0n],
  [1, 1_000_000n],
  [0.1, 100_000n],
  [0.3, 300_000n],
  [0.1 + 0.2, undefined],
  [0.000001, 1n],
  [1e-6, 1n],
  [1e-7, undefined],
  [0.0000015, undefined],
  [1.0000001, undefined],
  [-0.000001, -1n],
  [-1.5, -1_500_000n],
  [999_999_999.999999, 999_999_999_999_999n],
  [1_000_000_000, AMOUNT_MICRO_MAX],
  [1e21, 10n ** 27n],
  [Number.MIN_VALUE, undefined],
  [Number.NaN, undefined],
  [Infinity, undefined],
  [-Infinity, undefined],
];

for (const [credits, micro] of READ) {
  const told = micro === undefined ? 'no amount' : `${micro} micro-credits`;
  test(`R-168: ${String(credits)} credits are ${told}`, () => assert.equal(creditsFromNumber(credits), micro));
}

test('a decimal is the number as a person wrote it', () => {
  const written = fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(written, ([digits, scale]) => {
      const decimal = decimalFromNumber(Number(`${digits}e-${scale}`), 9);
      assert.ok(decimal !== undefined && decimal.scale <= scale);
      assert.equal(decimal.digits * 10n ** BigInt(scale - decimal.scale), digits);
    }),
    { numRuns: 2000 },
  );
});

test('a decimal at the most places allowed is read and one with one more is not', () => {
  assert.deepEqual(decimalFromNumber(1.234567891, 9), { digits: 1_234_567_891n, scale: 9 });
  assert.equal(decimalFromNumber(1.234567891, 8), undefined);
  assert.deepEqual(decimalFromNumber(1e-9, 9), { digits: 1n, scale: 9 });
  assert.equal(decimalFromNumber(1e-10, 9), undefined);
});

test('a large number has no decimals and all its zeros', () => {
  assert.deepEqual(decimalFromNumber(1.5e300, 0), { digits: 15n * 10n ** 299n, scale: 0 });
});

for (const [micro, text] of [
  [0n, '0'],
  [1n, '0.000001'],
  [-1n, '-0.000001'],
  [1_500_000n, '1.5'],
  [-20_000_000n, '-20'],
  [9_007_199_254_740_993_000_001n, '9007199254740993.000001'],
] as const) {
  test(`${micro} micro-credits are ${text} in exact decimals`, () => assert.equal(creditsToText(micro), text));
}
