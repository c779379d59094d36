import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Decimal } from '../../credits.ts';
import { type Terms, toRate, toUsdText } from './rates.ts';

const decimal = (digitsMax: bigint, scaleMax: number): fc.Arbitrary<Decimal> =>
  fc.record({ digits: fc.bigInt({ min: 0n, max: digitsMax }), scale: fc.integer({ min: 0, max: scaleMax }) });

const termsOf: fc.Arbitrary<Terms> = fc.record({
  marginPercent: decimal(1_000_000n, 6),
  creditUsd: decimal(10n ** 9n, 12).filter(({ digits }) => digits > 0n),
});

/** A fraction of whole numbers; two are compared by cross-multiplication, in which nothing is rounded. */
type Fraction = readonly [dividend: bigint, divisor: bigint];
const fraction = ({ digits, scale }: Decimal): Fraction => [digits, 10n ** BigInt(scale)];
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const isBelow = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d < c * b;

test('R-168: a rate is worth at least the price with its margin, and less than one micro-credit more', () => {
  const units = fc.constantFrom(1n, 1000n);
  fc.assert(
    fc.property(decimal(10n ** 18n, 24), units, termsOf, (usd, count, terms) => {
      const margin = fraction(terms.marginPercent);
      const factor: Fraction = [100n * margin[1] + margin[0], 100n * margin[1]];
      const price = times(times(fraction(usd), [count, 1n]), factor);
      const worthOf = (micro: bigint) => times([micro, 1_000_000n], fraction(terms.creditUsd));
      const rate = toRate(usd, count, terms);
      assert.ok(!isBelow(worthOf(rate), price));
      assert.ok(rate === 0n || isBelow(worthOf(rate - 1n), price));
    }),
    { numRuns: 3000 },
  );
});

test('R-168: a reference price in USD is exactly what its rate is worth', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 15n });
  fc.assert(
    fc.property(amount, fc.constantFrom(1n, 1000n), termsOf, (rate, count, terms) => {
      const text = toUsdText(rate, count, terms);
      assert.match(text, /^\d+(\.\d*[1-9])?$/);
      const [whole = '', digits = ''] = text.split('.');
      const written: Fraction = [BigInt(whole + digits), 10n ** BigInt(digits.length)];
      const worth = times([rate * count, 1_000_000n], fraction(terms.creditUsd));
      assert.equal(written[0] * worth[1], worth[0] * written[1]);
    }),
    { numRuns: 1000 },
  );
});

const TERMS: Terms = { marginPercent: { digits: 20n, scale: 0 }, creditUsd: { digits: 1n, scale: 3 } };

for (const [told, usd, units, micro] of [
  ['three millionths of a dollar a token are 3.6 credits a thousand', { digits: 3n, scale: 6 }, 1000n, 3_600_000n],
  ['four cents a picture are 48 credits', { digits: 4n, scale: 2 }, 1n, 48_000_000n],
  ['what is less than a micro-credit is one', { digits: 1n, scale: 20 }, 1n, 1n],
  ['nothing is nothing', { digits: 0n, scale: 0 }, 1000n, 0n],
] as const) {
  test(`R-168: at 20% and a tenth of a cent for a credit, ${told}`, () => {
    assert.equal(toRate(usd, units, TERMS), micro);
  });
}
