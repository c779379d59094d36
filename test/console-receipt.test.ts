import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decimal, decimalOf, decimalText, isEqual } from '../console/src/kit/decimal.ts';
import { calculationOf } from '../console/src/pages/activity/calculation.ts';
import { factorsView } from '../src/http/views/requests.ts';
import { charge, chargeFactors, freezePrice, pricingSchema, type Selectors, type Units } from '../src/pricing/index.ts';

// The receipt that a person reads: every line is exact, and the last one is the charge.

const ratios = { size_ratio: { '512x512': 0.25 }, quality_ratio: { high: 2 }, resolution_ratio: { '4k': 1.1 } };
const PRICES: readonly [mode: string, pricing: object, units: Units, selectors: Selectors][] = [
  [
    'an image',
    { mode: 'per_image', credits: { base: 0.000007 }, ...ratios },
    { images: 3 },
    { size: '512x512', quality: 'high' },
  ],
  ['a request', { mode: 'per_request', credits: { base: 7.5 } }, {}, {}],
  ['characters', { mode: 'per_k_char', credits: { base: 0.0000035 } }, { characters: 12_345 }, {}],
  [
    'a clip',
    { mode: 'per_second', credits: { base: 5, per_second: 12.5 }, ...ratios },
    { milliseconds: 5001 },
    { resolution: '4k' },
  ],
  ['a recording', { mode: 'per_audio_second', credits: { per_second: 0.1 } }, { milliseconds: 1234 }, {}],
  [
    'tokens',
    { mode: 'per_token', credits: { input_per_k: 0.0012, output_per_k: 8, cached_per_k: 0.5, reasoning_per_k: 1e-7 } },
    { inputTokens: 1_234_567, outputTokens: 89, cachedTokens: 3, reasoningTokens: 999 },
    {},
  ],
];

for (const [what, pricing, units, selectors] of PRICES) {
  test(`R-523: the receipt of ${what} adds up to the charge`, () => {
    const price = pricingSchema.parse(pricing);
    const { units: lines, subtotal, total } = calculationOf(factorsView(chargeFactors(price, selectors, units)));
    const sum = lines.reduce((whole, { credits }) => whole + fraction(credits), 0n);
    assert.equal(sum, fraction(subtotal));
    assert.equal(roundedMicro(total), charge(freezePrice(price, selectors), units));
  });
}

test('decimals are written out to the last digit, however JSON has them', () => {
  const cases = [
    [2e-7, '0.0000002'],
    [1e21, '1000000000000000000000'],
    [12.5, '12.5'],
    [-0.25, '-0.25'],
    [0, '0'],
  ] as const;
  for (const [value, text] of cases) assert.equal(decimalText(decimalOf(value)), text);
  assert.ok(isEqual(decimalOf(1.5), { digits: 1500n, scale: 3 }));
});

const FRACTION_DIGITS = 30;

function fraction({ digits, scale }: Decimal): bigint {
  return digits * 10n ** BigInt(FRACTION_DIGITS - scale);
}

function roundedMicro(value: Decimal): bigint {
  const unit = 10n ** BigInt(FRACTION_DIGITS - 6);
  return (fraction(value) + unit / 2n) / unit;
}
