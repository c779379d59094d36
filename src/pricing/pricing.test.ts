import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNIT_MAX } from './price.ts';
import { pricingSchema, pricingWarnings } from './pricing.ts';

const image = { mode: 'per_image', currency: 'usd', credits: { base: 40 } };
const video = { mode: 'per_second', currency: 'usd', credits: { per_second: 12 } };
const chat = { mode: 'per_token', currency: 'usd', credits: { input_per_k: 2, output_per_k: 8 } };
const KEYS_EXPECTED =
  'expected mode, currency, credits, size_ratio, quality_ratio, resolution_ratio, flag_ratio, token_tiers, or a number of at least 0 in a key ending in _usd';
const RATES_EXPECTED =
  'expected base, per_second, input_per_k, output_per_k, cached_per_k, cache_write_per_k, reasoning_per_k';

function refusals(pricing: unknown): readonly string[] {
  const { error } = pricingSchema.safeParse(pricing);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const accepted: readonly [name: string, pricing: object][] = [
  ['R-156 R-160: an image price of a base rate', image],
  ['R-156 R-160: a request price of a base rate', { ...image, mode: 'per_request' }],
  ['R-156 R-160: a price for a thousand characters', { ...image, mode: 'per_k_char' }],
  ['R-156 R-160: a price for seconds', video],
  ['R-156 R-160: a price for seconds with a base once', { ...video, credits: { base: 1, per_second: 12 } }],
  ['R-156 R-160: a price for seconds of audio', { ...video, mode: 'per_audio_second' }],
  ['R-156 R-160: a token price of two rates', chat],
  [
    'R-160: a token price of all four rates',
    { ...chat, credits: { ...chat.credits, cached_per_k: 0.2, reasoning_per_k: 9 } },
  ],
  ['R-158: reference prices under any name that ends in _usd', { ...image, per_image_usd: 0.04, special_offer_usd: 0 }],
  [
    'R-161: every ratio map',
    {
      ...image,
      size_ratio: { '1024x1024': 1 },
      quality_ratio: { low: 0.5 },
      resolution_ratio: { '4k': 4 },
      flag_ratio: { generate_audio: 1.5, reference_video: 2 },
    },
  ],
  ['R-161: a ratio of nothing', { ...image, quality_ratio: { draft: 0 } }],
  ['R-161: a ratio of six decimals', { ...image, quality_ratio: { draft: 0.000001 } }],
  ['R-168: a rate of nine decimals', { ...image, credits: { base: 0.000000001 } }],
  ['R-168: a rate of nothing', { ...image, credits: { base: 0 } }],
  [
    'R-164: rungs that rise, state 0, or leave a rate out',
    {
      ...chat,
      token_tiers: [
        { min_prompt_tokens: 1, input_per_k: 0 },
        { min_prompt_tokens: 128_000, input_per_k: 4 },
        { min_prompt_tokens: 256_000, input_per_k: 4, output_per_k: 16 },
      ],
    },
  ],
];

for (const [name, pricing] of accepted) {
  test(`${name} is accepted and read back unchanged`, () => {
    assert.deepEqual(pricingSchema.parse(pricing), pricing);
  });
}

test('R-157: the currency is usd when left out', () => {
  assert.equal(pricingSchema.parse({ mode: 'per_image', credits: { base: 1 } }).currency, 'usd');
});

const refused: readonly [name: string, pricing: unknown, ...refusals: string[]][] = [
  [
    'R-156: an unknown mode',
    { ...image, mode: 'per_pixel' },
    'mode: Invalid option: expected one of "per_image"|"per_request"|"per_second"|"per_token"|"per_k_char"|"per_audio_second"',
  ],
  ['R-157: another currency', { ...image, currency: 'eur' }, 'currency: Invalid input: expected "usd"'],
  ['R-166: media_rates', { ...image, media_rates: {} }, `media_rates: ${KEYS_EXPECTED}`],
  ['R-166: media_rates as a number', { ...image, media_rates: 1 }, `media_rates: ${KEYS_EXPECTED}`],
  ['R-158: a reference price below zero', { ...image, per_image_usd: -1 }, `per_image_usd: ${KEYS_EXPECTED}`],
  ['R-158: a reference price in words', { ...image, per_image_usd: '1' }, `per_image_usd: ${KEYS_EXPECTED}`],
  ['R-158: an endless reference price', { ...image, per_image_usd: Infinity }, `per_image_usd: ${KEYS_EXPECTED}`],
  [
    'R-159: a price without credits',
    { mode: 'per_image' },
    'credits: Invalid input: expected object, received undefined',
  ],
  [
    'R-160: an unknown rate',
    { ...image, credits: { base: 1, per_pixel: 1 } },
    `credits: unknown key per_pixel: ${RATES_EXPECTED}`,
  ],
  [
    'R-161: an unknown flag',
    { ...image, flag_ratio: { turbo: 2 } },
    'flag_ratio: unknown key turbo: expected generate_audio, reference_video',
  ],
  [
    'R-164: an unknown key on a rung',
    { ...chat, token_tiers: [{ min_prompt_tokens: 1, base: 2 }] },
    'token_tiers.0: unknown key base: expected min_prompt_tokens, input_per_k, output_per_k, cached_per_k, cache_write_per_k, reasoning_per_k',
  ],
  [
    'R-164: a rung without a threshold',
    { ...chat, token_tiers: [{ input_per_k: 4 }] },
    'token_tiers.0.min_prompt_tokens: Invalid input: expected number, received undefined',
  ],
  [
    'R-164: a threshold of no tokens',
    { ...chat, token_tiers: [{ min_prompt_tokens: 0 }] },
    'token_tiers.0.min_prompt_tokens: Too small: expected number to be >0',
  ],
  [
    'R-164: half a token as a threshold',
    { ...chat, token_tiers: [{ min_prompt_tokens: 1.5 }] },
    'token_tiers.0.min_prompt_tokens: Invalid input: expected int, received number',
  ],
  [
    'R-170: a rate below zero',
    { ...image, credits: { base: -1 } },
    'credits.base: Too small: expected number to be >=0',
  ],
  [
    'R-170: a rate that is no number',
    { ...image, credits: { base: Number.NaN } },
    'credits.base: Invalid input: expected number, received NaN',
  ],
  [
    'R-170: an endless rate',
    { ...image, credits: { base: Infinity } },
    'credits.base: Invalid input: expected number, received Infinity',
  ],
  [
    'R-170: a ratio below zero',
    { ...image, size_ratio: { s: -1 } },
    'size_ratio.s: Too small: expected number to be >=0',
  ],
  [
    'R-168: a rate of ten decimals',
    { ...image, credits: { base: 1e-10 } },
    'credits.base: expected at most 9 decimals',
  ],
  [
    'R-168: a ratio of seven decimals',
    { ...image, size_ratio: { s: 1.0000001 } },
    'size_ratio.s: expected at most 6 decimals',
  ],
  ['R-161: a ratio under an empty key', { ...image, size_ratio: { '': 1 } }, 'size_ratio.: Invalid key in record'],
  [
    'R-160: an image price without its rate',
    { ...image, credits: {} },
    'credits.base: expected a rate: per_image is charged from it',
  ],
  [
    'R-160: a price for seconds with only a base',
    { ...video, credits: { base: 1 } },
    'credits.per_second: expected a rate: per_second is charged from it',
  ],
  [
    'R-160: a token price with tiers and no rates',
    { ...chat, credits: {}, token_tiers: [{ min_prompt_tokens: 1 }] },
    'credits.input_per_k: expected a rate: per_token is charged from it',
    'credits.output_per_k: expected a rate: per_token is charged from it',
  ],
  [
    'R-160: a rate that the mode does not use',
    { ...image, credits: { base: 1, per_second: 0 } },
    'credits.per_second: expected no such rate: per_image uses base',
  ],
  [
    'R-160: a base on a token price',
    { ...chat, credits: { ...chat.credits, base: 1 } },
    'credits.base: expected no such rate: per_token uses input_per_k, output_per_k, cached_per_k, cache_write_per_k, reasoning_per_k',
  ],
  [
    'R-164: tiers on a price without tokens',
    { ...image, token_tiers: [] },
    'token_tiers: expected no tiers: only per_token has them, not per_image',
  ],
  [
    'R-164: thresholds that do not rise',
    { ...chat, token_tiers: [{ min_prompt_tokens: 9 }, { min_prompt_tokens: 9 }] },
    'token_tiers.1.min_prompt_tokens: expected more than 9: thresholds rise from rung to rung',
  ],
];

for (const [name, pricing, ...expected] of refused) {
  test(`${name} is refused where it stands`, () => {
    assert.deepEqual(refusals(pricing), expected);
  });
}

const FALLING: readonly [name: string, pricing: object, ...warnings: string[]][] = [
  [
    'a rung cheaper than the headline',
    { ...chat, token_tiers: [{ min_prompt_tokens: 9, output_per_k: 7, reasoning_per_k: 8 }] },
    'token_tiers.0.output_per_k: comes to 7, less than 8 below this rung: a longer prompt becomes cheaper',
  ],
  [
    'a rung whose 0 inherits the headline rate above a rung with its own',
    {
      ...chat,
      credits: { ...chat.credits, cached_per_k: 1 },
      token_tiers: [
        { min_prompt_tokens: 9, input_per_k: 4 },
        { min_prompt_tokens: 10, input_per_k: 0 },
      ],
    },
    'token_tiers.1.input_per_k: comes to 2, less than 4 below this rung: a longer prompt becomes cheaper',
  ],
  [
    'a rung whose cached tokens are cheaper than the input rate they cost below it',
    { ...chat, token_tiers: [{ min_prompt_tokens: 9, cached_per_k: 1 }] },
    'token_tiers.0.cached_per_k: comes to 1, less than 2 below this rung: a longer prompt becomes cheaper',
  ],
  [
    'rungs that rise',
    {
      ...chat,
      token_tiers: [
        { min_prompt_tokens: 9, input_per_k: 3 },
        { min_prompt_tokens: 10, input_per_k: 4 },
      ],
    },
  ],
  ['a price without rungs', chat],
  ['a price without tokens', image],
];

for (const [name, pricing, ...warnings] of FALLING) {
  test(`R-164: ${name} is accepted, with ${warnings.length} warnings`, () => {
    assert.deepEqual(refusals(pricing), []);
    const found = pricingWarnings(pricingSchema.parse(pricing)).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );
    assert.deepEqual(found, warnings);
  });
}

test('R-170: the largest amount is that of the dearest rung, which need not be the highest', () => {
  const rungs = (dear: number) => [
    { min_prompt_tokens: 5, input_per_k: dear, output_per_k: dear },
    { min_prompt_tokens: 6, input_per_k: 1, output_per_k: 1 },
  ];
  assert.deepEqual(refusals({ ...tokens(1), token_tiers: rungs(2500) }), []);
  assert.equal(refusals({ ...tokens(1), token_tiers: rungs(2500.000000003) }).length, 1);
});

test('R-170: seventeen rungs are refused and sixteen accepted', () => {
  const rungs = Array.from({ length: 17 }, (_, index) => ({ min_prompt_tokens: index + 1 }));
  assert.deepEqual(refusals({ ...chat, token_tiers: rungs.slice(1) }), []);
  assert.deepEqual(refusals({ ...chat, token_tiers: rungs }), [
    'token_tiers: Too big: expected array to have <=16 items',
  ]);
});

const TOO_MUCH = 'credits: this price could exceed 1000000000 credits for one request';
const tokens = (rate: number) => ({ ...chat, credits: { input_per_k: rate, output_per_k: rate } });
const ratios = { size_ratio: { s: 2 }, quality_ratio: { q: 1.5, r: 2 }, resolution_ratio: { '4k': 2.5 } };
const flags = { flag_ratio: { generate_audio: 2, reference_video: 5 } };

const largest: readonly [name: string, atTheLimit: object, above: object][] = [
  ['images', { ...image, credits: { base: 1_000_000 } }, { ...image, credits: { base: 1_000_000.000000001 } }],
  [
    'requests',
    { mode: 'per_request', credits: { base: 1_000_000 } },
    { mode: 'per_request', credits: { base: 1_000_000.000000001 } },
  ],
  [
    'characters',
    { mode: 'per_k_char', credits: { base: 100_000 } },
    { mode: 'per_k_char', credits: { base: 100_000.000000001 } },
  ],
  [
    'seconds',
    { ...video, credits: { per_second: 11_574.074074074 } },
    { ...video, credits: { per_second: 11_574.074074075 } },
  ],
  [
    'a base beside seconds',
    { ...video, credits: { base: 999_999_999.99, per_second: 0.000000115 } },
    { ...video, credits: { base: 999_999_999.99, per_second: 0.000000116 } },
  ],
  ['tokens', tokens(2500), tokens(2500.000000003)],
  [
    'tokens on the highest rung',
    { ...tokens(1), token_tiers: [{ min_prompt_tokens: 5, input_per_k: 2500, output_per_k: 2500 }] },
    { ...tokens(1), token_tiers: [{ min_prompt_tokens: 5, input_per_k: 2500, output_per_k: 2500.000000003 }] },
  ],
  [
    'every ratio at its largest',
    { ...image, credits: { base: 10_000 }, ...ratios, ...flags },
    { ...image, credits: { base: 10_000.000000001 }, ...ratios, ...flags },
  ],
  [
    'ratios below one, which a request need not select',
    { ...image, credits: { base: 1_000_000 }, size_ratio: { s: 0.1 }, flag_ratio: { generate_audio: 0 } },
    { ...image, credits: { base: 1_000_001 }, size_ratio: { s: 0.1 }, flag_ratio: { generate_audio: 0 } },
  ],
];

for (const [name, atTheLimit, above] of largest) {
  test(`R-170: a price that could pass the largest amount is refused, and one that reaches it is not: ${name}`, () => {
    assert.deepEqual(refusals(atTheLimit), []);
    assert.deepEqual(refusals(above), [TOO_MUCH]);
  });
}

test('R-170: absurd figures are refused and not computed with', () => {
  assert.deepEqual(refusals({ ...image, credits: { base: 1e308 } }), [TOO_MUCH]);
  assert.deepEqual(refusals({ ...image, size_ratio: { s: 1e308 } }), [TOO_MUCH]);
});

test('R-170: a rung that no prompt can reach does not count towards the largest amount', () => {
  const unreachable = { min_prompt_tokens: UNIT_MAX.inputTokens + UNIT_MAX.cachedTokens, input_per_k: 1e9 };
  assert.deepEqual(refusals({ ...chat, token_tiers: [unreachable] }), []);
});
