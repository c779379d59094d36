import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AMOUNT_MICRO_MAX, creditsToNumber } from '../credits.ts';
import { type ChargeFactors, chargeFactors, frozenFactors } from './factors.ts';
import { charge, freezePrice, type Selectors, UNIT_MAX, type Unit, type Units } from './price.ts';
import { type Pricing, pricingSchema } from './pricing.ts';

function credits(pricing: object, units: Units, selectors: Selectors = {}): number {
  return creditsToNumber(charge(freezePrice(pricingSchema.parse(pricing), selectors), units));
}

const image = { mode: 'per_image', credits: { base: 40 } };
const request = { mode: 'per_request', credits: { base: 7.5 } };
const speech = { mode: 'per_k_char', credits: { base: 3 } };
const video = { mode: 'per_second', credits: { per_second: 12.5 }, resolution_ratio: { '720p': 1, '4k': 4 } };
const videoWithOnce = { ...video, credits: { base: 5, per_second: 12.5 } };
const transcript = { mode: 'per_audio_second', credits: { per_second: 0.1 } };
const chat = { mode: 'per_token', credits: { input_per_k: 2, output_per_k: 8 } };
const chatOfFour = { ...chat, credits: { ...chat.credits, cached_per_k: 0.5, reasoning_per_k: 10 } };
const writing = { ...chat, credits: { ...chat.credits, cache_write_per_k: 2.5 } };
const writingFree = { ...chat, credits: { ...chat.credits, cache_write_per_k: 0 } };
const exactWriting = {
  ...chat,
  credits: { input_per_k: 0.123457, cached_per_k: 0.0301, cache_write_per_k: 0.154321, output_per_k: 2.000003 },
};
const tiered = {
  ...chatOfFour,
  token_tiers: [
    { min_prompt_tokens: 1000, input_per_k: 4, output_per_k: 0 },
    { min_prompt_tokens: 2000, input_per_k: 4, output_per_k: 12, cached_per_k: 1 },
  ],
};
const picture = {
  ...image,
  size_ratio: { '1024x1024': 1, '512x512': 0.25 },
  quality_ratio: { high: 2 },
  resolution_ratio: { '2k': 1.5 },
  flag_ratio: { generate_audio: 1.1, reference_video: 3 },
};

const cases: readonly [name: string, charged: number, pricing: object, units: Units, selectors?: Selectors][] = [
  ['R-169: an image costs its base', 40, image, { images: 1 }],
  ['R-169: each image costs the base', 160, image, { images: 4 }],
  ['R-169: no image costs nothing', 0, image, {}],
  ['R-169: a request costs its base once', 7.5, request, {}],
  ['R-169: requests counted are charged each', 22.5, request, { requests: 3 }],
  ['R-169: no request costs nothing', 0, request, { requests: 0 }],
  ['R-169: a thousand characters cost the base', 3, speech, { characters: 1000 }],
  ['R-169: characters are charged pro rata', 0.003, speech, { characters: 1 }],
  ['R-169: characters beyond a thousand are charged pro rata', 3.003, speech, { characters: 1001 }],
  ['R-162 R-372: a video costs its seconds at the rate', 62.5, video, { milliseconds: 5000 }],
  [
    'R-162 R-372: a video costs seconds × rate × resolution ratio',
    250,
    video,
    { milliseconds: 5000 },
    { resolution: '4k' },
  ],
  ['R-372: delivered seconds are charged to the millisecond', 62.5125, video, { milliseconds: 5001 }],
  ['R-169: seconds of audio are charged to the millisecond', 0.1234, transcript, { milliseconds: 1234 }],
  ['R-160: a base beside seconds is charged once', 67.5, videoWithOnce, { milliseconds: 5000 }],
  [
    'R-161: no ratio multiplies the base beside seconds',
    255,
    videoWithOnce,
    { milliseconds: 5000 },
    { resolution: '4k' },
  ],
  ['R-160: token rates are per thousand', 10, chat, { inputTokens: 1000, outputTokens: 1000 }],
  ['R-160: one token costs a thousandth of the rate', 0.002, chat, { inputTokens: 1 }],
  ['R-160: cached tokens without a rate cost the input rate', 2, chat, { cachedTokens: 1000 }],
  ['R-160: reasoning tokens without a rate cost the output rate', 8, chat, { reasoningTokens: 1000 }],
  ['R-160: cached tokens cost their own rate', 0.5, chatOfFour, { cachedTokens: 1000 }],
  ['R-160: reasoning tokens cost their own rate', 10, chatOfFour, { reasoningTokens: 1000 }],
  [
    'R-160: the four kinds of tokens add up',
    20.5,
    chatOfFour,
    { inputTokens: 1000, cachedTokens: 1000, outputTokens: 1000, reasoningTokens: 1000 },
  ],
  [
    'R-160: tokens written to a cache without a rate cost the input rate',
    6,
    chatOfFour,
    { inputTokens: 1000, cacheWriteTokens: 2000 },
  ],
  ['R-160: tokens written to a cache cost their own rate', 2.5, writing, { cacheWriteTokens: 1000 }],
  ['R-160: a rate of nothing for writing to a cache is not the input rate', 0, writingFree, { cacheWriteTokens: 1000 }],
  [
    'R-160: the five kinds of tokens add up to the micro-credit',
    0.018516,
    exactWriting,
    { inputTokens: 3, cacheWriteTokens: 10, cachedTokens: 20, outputTokens: 8 },
  ],
  [
    'R-165: tokens written to a cache count towards the threshold',
    4.004,
    tiered,
    { inputTokens: 1000, cacheWriteTokens: 1 },
  ],
  [
    'R-164: a rung has a rate of its own for what is written to a cache',
    7,
    { ...chat, token_tiers: [{ min_prompt_tokens: 500, input_per_k: 4, cache_write_per_k: 7 }] },
    { cacheWriteTokens: 1000 },
  ],
  ['R-160: a cached rate of nothing is not the input rate', 0, cachedFree(), { cachedTokens: 1000 }],
  ['R-165: a prompt at the threshold uses the lower rung', 2, tiered, { inputTokens: 1000 }],
  ['R-165: one token more uses the rung for the whole prompt', 4.004, tiered, { inputTokens: 1001 }],
  ['R-165: a prompt at the second threshold uses the first rung', 8, tiered, { inputTokens: 2000 }],
  ['R-165: cached tokens count towards the threshold', 4.0005, tiered, { inputTokens: 1000, cachedTokens: 1 }],
  ['R-165: output does not count towards the threshold', 10, tiered, { inputTokens: 1000, outputTokens: 1000 }],
  [
    'R-164: a rate of 0 on a rung inherits the headline rate',
    12.004,
    tiered,
    { inputTokens: 1001, outputTokens: 1000 },
  ],
  [
    'R-164: a rate left out on a rung inherits the headline rate, not that of the rung below',
    18.004,
    tiered,
    { inputTokens: 2001, reasoningTokens: 1000 },
  ],
  ['R-164: the highest rung passed is the one in force', 2.001, tiered, { cachedTokens: 2001 }],
  [
    'R-164: cached tokens without a rate cost what input costs on the rung',
    8.004,
    { ...chat, token_tiers: [{ min_prompt_tokens: 1000, input_per_k: 4 }] },
    { inputTokens: 1000, cachedTokens: 1001 },
  ],
  [
    'R-164: reasoning tokens without a rate cost what output costs on the rung',
    20.002,
    { ...chat, token_tiers: [{ min_prompt_tokens: 1000, output_per_k: 18 }] },
    { inputTokens: 1001, reasoningTokens: 1000 },
  ],
  ['R-161: a size ratio multiplies the rate', 10, picture, { images: 1 }, { size: '512x512' }],
  ['R-161: a quality ratio multiplies the rate', 80, picture, { images: 1 }, { quality: 'high' }],
  ['R-161: a resolution ratio multiplies the rate', 60, picture, { images: 1 }, { resolution: '2k' }],
  [
    'R-163: the ratio of a generated audio track multiplies the rate',
    44,
    picture,
    { images: 1 },
    { generateAudio: true },
  ],
  ['R-163: the ratio of a reference video multiplies the rate', 120, picture, { images: 1 }, { referenceVideo: true }],
  [
    'R-163: a flag that is off has no ratio',
    40,
    picture,
    { images: 1 },
    { generateAudio: false, referenceVideo: false },
  ],
  [
    'R-167: several ratios multiply together',
    99,
    picture,
    { images: 1 },
    { size: '512x512', quality: 'high', resolution: '2k', generateAudio: true, referenceVideo: true },
  ],
  [
    'R-167: a value missing from a map counts as 1',
    40,
    picture,
    { images: 1 },
    { size: '1x1', quality: 'low', resolution: '9k' },
  ],
  ['R-167: a value that every object inherits counts as 1', 40, picture, { images: 1 }, { size: 'constructor' }],
  ['R-167: a value of a map that the price lacks counts as 1', 40, image, { images: 1 }, { size: 'any' }],
  [
    'R-161: ratios multiply token rates',
    4,
    { ...chat, quality_ratio: { high: 2 } },
    { inputTokens: 1000 },
    { quality: 'high' },
  ],
  ['R-161: ratios multiply the rate of requests', 15, { ...request, size_ratio: { l: 2 } }, {}, { size: 'l' }],
  [
    'R-161: ratios multiply the rate of characters',
    1.5,
    { ...speech, quality_ratio: { low: 0.5 } },
    { characters: 1000 },
    { quality: 'low' },
  ],
  ['R-161: a ratio of nothing makes it free', 0, { ...image, size_ratio: { s: 0 } }, { images: 9 }, { size: 's' }],
  ['R-168: half a micro-credit rounds up', 0.000001, { ...image, credits: { base: 0.0000005 } }, { images: 1 }],
  ['R-168: less than half rounds down', 0, { ...image, credits: { base: 0.000000499 } }, { images: 1 }],
  ['R-168: one and a half rounds up', 0.000002, { ...image, credits: { base: 0.0000005 } }, { images: 3 }],
  [
    'R-168: half a micro-credit made by ratios rounds up',
    0.000001,
    { ...image, credits: { base: 0.000001 }, size_ratio: { s: 0.5 } },
    { images: 1 },
    { size: 's' },
  ],
  [
    'R-168: just below half made by ratios rounds down',
    0,
    { ...image, credits: { base: 0.000001 }, size_ratio: { s: 0.499999 } },
    { images: 1 },
    { size: 's' },
  ],
  [
    'R-168: parts below half are summed before rounding',
    0.000001,
    { ...chat, credits: { input_per_k: 0.0004, output_per_k: 0.0004 } },
    { inputTokens: 1, outputTokens: 1 },
  ],
  [
    'R-168: parts of one half each are not rounded up each',
    0.000001,
    { ...chat, credits: { input_per_k: 0.0005, output_per_k: 0.0005 } },
    { inputTokens: 1, outputTokens: 1 },
  ],
  ['R-168: units are not rounded each', 0.000004, { ...image, credits: { base: 0.0000004 } }, { images: 10 }],
  ['R-168: 0.1 and 0.2 are what they say', 0.3, { ...image, credits: { base: 0.1 } }, { images: 3 }],
  ['R-168: the smallest rate counts when there is enough of it', 0.000001, smallest(), { images: 1000 }],
];

function cachedFree(): object {
  return { ...chat, credits: { ...chat.credits, cached_per_k: 0 } };
}

function smallest(): object {
  return { ...image, credits: { base: 0.000000001 } };
}

for (const [name, charged, pricing, units, selectors] of cases) {
  test(name, () => assert.equal(credits(pricing, units, selectors), charged));
}

test('R-159: USD figures change no charge', () => {
  const dear = { ...video, per_second_usd: 99, input_usd: 1e9, credits_usd: 0.000000000001 };
  assert.deepEqual(freezePrice(pricingSchema.parse(dear), {}), freezePrice(pricingSchema.parse(video), {}));
});

test('R-159: a price frozen before a change charges as before', () => {
  const pricing = pricingSchema.parse(video);
  const frozen = freezePrice(pricing, { resolution: '4k' });
  pricing.credits.per_second = 99;
  assert.equal(charge(frozen, { milliseconds: 5000 }), 250_000_000n);
});

const units: readonly Unit[] = [
  'images',
  'requests',
  'milliseconds',
  'characters',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
];

for (const unit of units) {
  test(`R-170: ${unit} are charged up to their bound and refused beyond it`, () => {
    const price = freezePrice(pricingSchema.parse(image), {});
    assert.doesNotThrow(() => charge(price, { [unit]: UNIT_MAX[unit] }));
    for (const count of [UNIT_MAX[unit] + 1, -1, 0.5, Number.NaN, Infinity, -Infinity]) {
      const message = `${unit} must be a whole number from 0 to ${UNIT_MAX[unit]}, not ${count}`;
      assert.throws(() => charge(price, { [unit]: count }), new RangeError(message));
    }
  });
}

test('R-163: the factors of an estimate name each unit, ratio and the total', () => {
  const selectors = { size: '512x512', quality: 'unknown', generateAudio: true };
  assert.deepEqual(chargeFactors(pricingSchema.parse(picture), selectors, { images: 2 }), {
    mode: 'per_image',
    once: 0,
    units: [{ unit: 'images', rate: 40, per: 1, count: 2 }],
    ratios: [
      { map: 'size_ratio', key: '512x512', ratio: 0.25 },
      { map: 'flag_ratio', key: 'generate_audio', ratio: 1.1 },
    ],
    total: 22_000_000n,
  });
});

test('R-160: the factors of an estimate show the base charged once', () => {
  const { once, units, total } = chargeFactors(pricingSchema.parse(videoWithOnce), {}, { milliseconds: 2000 });
  assert.deepEqual(
    { once, units, total },
    {
      once: 5,
      units: [{ unit: 'milliseconds', rate: 12.5, per: 1000, count: 2000 }],
      total: 30_000_000n,
    },
  );
});

test('R-164: the factors of an estimate show the rates of the rung in force', () => {
  const { units } = chargeFactors(pricingSchema.parse(tiered), {}, { inputTokens: 1001, outputTokens: 5 });
  assert.deepEqual(units, [
    { unit: 'inputTokens', rate: 4, per: 1000, count: 1001 },
    { unit: 'outputTokens', rate: 8, per: 1000, count: 5 },
  ]);
});

test('R-165: the factors of an estimate show the lower rung for a prompt at the threshold', () => {
  const { units } = chargeFactors(pricingSchema.parse(tiered), {}, { inputTokens: 1000 });
  assert.deepEqual(units, [{ unit: 'inputTokens', rate: 2, per: 1000, count: 1000 }]);
});

// Generators. Rates are drawn in nano-credits and kept low enough that no price can pass the largest amount.

const NANO = 1_000_000_000;
const nanoMax = { per_image: 900, per_request: 900, per_k_char: 90, per_second: 10, per_audio_second: 10 } as const;

/** Whole nano-credits, often round ones. */
function nano(creditsMax: number): fc.Arbitrary<number> {
  const steps = fc.constantFrom(1, 1000, 1_000_000, NANO / 2).filter((step) => step <= creditsMax * NANO);
  return steps.chain((step) => fc.nat(Math.floor((creditsMax * NANO) / step)).map((count) => count * step));
}

function rateOf(nanoCredits: number): number {
  return Number(`${nanoCredits}e-9`);
}

const ratio = fc.nat(4_000_000).map((millionths) => Number(`${millionths}e-6`));
const ratioMap = (...keys: string[]) => fc.dictionary(fc.constantFrom(...keys), ratio, { noNullPrototype: true });
const ratioMaps = fc.record(
  {
    size_ratio: ratioMap('s', 'm', 'l'),
    quality_ratio: ratioMap('low', 'high'),
    resolution_ratio: ratioMap('1k', '4k'),
    flag_ratio: ratioMap('generate_audio', 'reference_video'),
    per_image_usd: fc.double({ min: 0, max: 1e9, noNaN: true }),
  },
  { requiredKeys: [] },
);

const simplePricing = fc.oneof(
  ...(['per_image', 'per_request', 'per_k_char'] as const).map((mode) =>
    nano(nanoMax[mode]).map((rate) => ({ mode, credits: { base: rateOf(rate) } })),
  ),
  ...(['per_second', 'per_audio_second'] as const).map((mode) =>
    fc.tuple(nano(nanoMax[mode]), fc.option(nano(1000))).map(([rate, once]) => ({
      mode,
      credits: { per_second: rateOf(rate), ...(once === null ? {} : { base: rateOf(once) }) },
    })),
  ),
);

const TOKEN_RATES = ['input_per_k', 'output_per_k', 'cached_per_k', 'reasoning_per_k'] as const;

interface Step {
  readonly tokens: number;
  readonly rises: readonly number[];
  readonly omits: readonly boolean[];
}

const step: fc.Arbitrary<Step> = fc.record({
  tokens: fc.integer({ min: 1, max: 2000 }),
  rises: fc.array(fc.oneof(fc.constant(0), nano(0.2)), { minLength: 4, maxLength: 4 }),
  omits: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
});

const tokenPricing = fc
  .record({ headline: fc.tuple(nano(0.5), nano(0.5), nano(0.5), nano(0.5)), steps: fc.array(step, { maxLength: 6 }) })
  .map(({ headline, steps }) => ({
    mode: 'per_token',
    credits: rates(headline, [false, false, false, false]),
    token_tiers: rungs(headline, steps),
  }));

// Without cached and reasoning rates at the headline, rungs have none either.
const shortTokenPricing = tokenPricing.map(({ mode, credits, token_tiers }) => ({
  mode,
  credits: withoutDerived(credits),
  token_tiers: token_tiers.map(withoutDerived),
}));

function rungs(headline: readonly number[], steps: readonly Step[]) {
  let tokens = 0;
  let current = headline;
  return steps.map((step) => {
    tokens += step.tokens;
    current = current.map((rate, index) => rate + (step.rises[index] ?? 0));
    // A rate may be left out only while it is still the headline's.
    const omits = step.omits.map((omit, index) => omit && current[index] === headline[index]);
    return { min_prompt_tokens: tokens, ...rates(current, omits) };
  });
}

function rates(nanoCredits: readonly number[], omits: readonly boolean[]): Record<string, number> {
  const stated = TOKEN_RATES.map((name, index) => [name, rateOf(nanoCredits[index] ?? 0)] as const);
  return Object.fromEntries(stated.filter((_, index) => omits[index] !== true));
}

function withoutDerived<Rates extends object>(stated: Rates): Rates {
  return { ...stated, cached_per_k: undefined, reasoning_per_k: undefined };
}

const writtenPricing = fc
  .tuple(fc.oneof(simplePricing, tokenPricing, shortTokenPricing), ratioMaps)
  .map(([pricing, maps]): unknown => JSON.parse(JSON.stringify({ ...pricing, ...maps })));
const anyPricing = writtenPricing.map((written) => pricingSchema.parse(written));

const anySelectors: fc.Arbitrary<Selectors> = fc.record(
  {
    size: fc.constantFrom('s', 'm', 'l', 'other'),
    quality: fc.constantFrom('low', 'high', 'other'),
    resolution: fc.constantFrom('1k', '4k', 'other'),
    generateAudio: fc.boolean(),
    referenceVideo: fc.boolean(),
  },
  { requiredKeys: [] },
);

// Small counts lie around the thresholds of the rungs; large ones reach the bounds.
const count = (unit: Unit) => fc.oneof(fc.nat(Math.min(6000, UNIT_MAX[unit])), fc.nat(UNIT_MAX[unit]));
const anyUnits: fc.Arbitrary<Units> = fc.record(
  {
    images: count('images'),
    requests: count('requests'),
    milliseconds: count('milliseconds'),
    characters: count('characters'),
    inputTokens: count('inputTokens'),
    cachedTokens: count('cachedTokens'),
    outputTokens: count('outputTokens'),
    reasoningTokens: count('reasoningTokens'),
  },
  { requiredKeys: [] },
);

function holds(check: (pricing: Pricing, selectors: Selectors, units: Units) => void): void {
  fc.assert(fc.property(anyPricing, anySelectors, anyUnits, check), { numRuns: 500 });
}

test('R-156 R-161 R-164: the schema accepts every price that the tests below draw', () => {
  fc.assert(fc.property(writtenPricing, (written) => assert.equal(pricingSchema.safeParse(written).error, undefined)));
});

test('R-170: a charge is never negative and never above the largest amount', () => {
  holds((pricing, selectors, units) => {
    const micro = charge(freezePrice(pricing, selectors), units);
    assert(micro >= 0n && micro <= AMOUNT_MICRO_MAX);
  });
});

test('R-170: with every unit at its bound no charge passes the largest amount', () => {
  holds((pricing, selectors) => {
    assert(charge(freezePrice(pricing, selectors), UNIT_MAX) <= AMOUNT_MICRO_MAX);
  });
});

test('R-164 R-170: more of any unit never costs less, also across rungs', () => {
  const more = fc.constantFrom(...units).chain((unit) => fc.record({ unit: fc.constant(unit), by: count(unit) }));
  const check = (pricing: Pricing, selectors: Selectors, fewer: Units, { unit, by }: { unit: Unit; by: number }) => {
    const from = fewer[unit] ?? (unit === 'requests' ? 1 : 0);
    const price = freezePrice(pricing, selectors);
    const raised = { ...fewer, [unit]: Math.min(from + by, UNIT_MAX[unit]) };
    assert(charge(price, raised) >= charge(price, fewer));
  };
  fc.assert(fc.property(anyPricing, anySelectors, anyUnits, more, check), { numRuns: 1000 });
});

test('R-163: an estimate equals the charge for the same units', () => {
  holds((pricing, selectors, units) => {
    const { total } = chargeFactors(pricing, selectors, units);
    assert.equal(total, charge(freezePrice(pricing, selectors), units));
  });
});

test('R-168: a frozen price charges the same after it was stored as JSON', () => {
  holds((pricing, selectors, units) => {
    const frozen = freezePrice(pricing, selectors);
    const stored: typeof frozen = JSON.parse(JSON.stringify(frozen));
    assert.deepEqual(stored, frozen);
    assert.equal(charge(stored, units), charge(frozen, units));
  });
});

test('R-162 R-164 R-167 R-168: a charge equals the one computed in fractions', () => {
  holds((pricing, selectors, units) => {
    const expected = roundHalfUp(times(modelCredits(pricing, selectors, units), [1_000_000n, 1n]));
    assert.equal(charge(freezePrice(pricing, selectors), units), expected);
  });
});

// The model: the rules of the specification in unreduced fractions, sharing nothing with the code under test.

type Fraction = readonly [over: bigint, under: bigint];

function times(...factors: readonly Fraction[]): Fraction {
  return factors.reduce(([over, under], factor) => [over * factor[0], under * factor[1]], [1n, 1n]);
}

function plus(...terms: readonly Fraction[]): Fraction {
  return terms.reduce(([over, under], term) => [over * term[1] + term[0] * under, under * term[1]], [0n, 1n]);
}

function roundHalfUp([over, under]: Fraction): bigint {
  const rest = over % under;
  return over / under + (rest * 2n >= under ? 1n : 0n);
}

function fraction(value: number): Fraction {
  const [mantissa = '', exponent = '0'] = String(value).split('e-');
  const [whole = '', decimals = ''] = mantissa.split('.');
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length + Number(exponent))];
}

function modelCredits(pricing: Pricing, selectors: Selectors, units: Units): Fraction {
  const { credits, mode } = pricing;
  const ratio = modelRatio(pricing, selectors);
  const thousandths = (rate = 0, count = 0) => times(fraction(rate), [BigInt(count), 1000n], ratio);
  switch (mode) {
    case 'per_image':
      return thousandths(credits.base, (units.images ?? 0) * 1000);
    case 'per_request':
      return thousandths(credits.base, (units.requests ?? 1) * 1000);
    case 'per_k_char':
      return thousandths(credits.base, units.characters);
    case 'per_second':
    case 'per_audio_second':
      return plus(fraction(credits.base ?? 0), thousandths(credits.per_second, units.milliseconds));
    case 'per_token': {
      const rates = modelTokenRates(pricing, (units.inputTokens ?? 0) + (units.cachedTokens ?? 0));
      return plus(
        thousandths(rates.input, units.inputTokens),
        thousandths(rates.cached, units.cachedTokens),
        thousandths(rates.output, units.outputTokens),
        thousandths(rates.reasoning, units.reasoningTokens),
      );
    }
  }
}

function modelRatio(pricing: Pricing, selectors: Selectors): Fraction {
  let ratio: Fraction = [1n, 1n];
  const { size = '', quality = '', resolution = '', generateAudio, referenceVideo } = selectors;
  ratio = times(ratio, fraction(pricing.size_ratio?.[size] ?? 1));
  ratio = times(ratio, fraction(pricing.quality_ratio?.[quality] ?? 1));
  ratio = times(ratio, fraction(pricing.resolution_ratio?.[resolution] ?? 1));
  if (generateAudio) ratio = times(ratio, fraction(pricing.flag_ratio?.generate_audio ?? 1));
  if (referenceVideo) ratio = times(ratio, fraction(pricing.flag_ratio?.reference_video ?? 1));
  return ratio;
}

function modelTokenRates({ credits, token_tiers = [] }: Pricing, promptTokens: number) {
  const passed = token_tiers.filter((rung) => promptTokens >= rung.min_prompt_tokens + 1);
  const rung = passed[passed.length - 1];
  const stated = (name: (typeof TOKEN_RATES)[number]) => {
    const rate = rung?.[name];
    return rate === undefined || rate === 0 ? credits[name] : rate;
  };
  const input = stated('input_per_k');
  const output = stated('output_per_k');
  const cached = stated('cached_per_k') ?? input;
  const reasoning = stated('reasoning_per_k') ?? output;
  return { input, output, cached, reasoning };
}

/** Other arithmetic than the program's: every factor as a fraction, one rounding at the end. */
function multipliedOut({ once, units, ratios }: ChargeFactors): bigint {
  const NANO_PER_CREDIT = 1_000_000_000n;
  const nanoOf = (rate: number) => BigInt(rate.toFixed(9).replace('.', ''));
  const ratio = ratios.reduce((product, chosen) => product * nanoOf(chosen.ratio), 1n);
  const scale = NANO_PER_CREDIT ** BigInt(ratios.length);
  // Thousandths of a nano-credit, times the scale of the ratios.
  const rated = units.reduce(
    (sum, { count, per, rate }) => sum + (BigInt(count) * nanoOf(rate) * 1000n) / BigInt(per),
    0n,
  );
  const whole = rated * ratio + nanoOf(once) * 1000n * scale;
  const divisor = 1_000_000n * scale;
  return (whole + divisor / 2n) / divisor;
}

test('R-523: a receipt’s factors multiply out to the charge, in every mode', () => {
  holds((pricing, selectors, units) => {
    const price = JSON.parse(JSON.stringify(freezePrice(pricing, selectors)));
    const factors = frozenFactors(price, units);
    assert.equal(multipliedOut(factors), charge(price, units));
    assert.equal(factors.total, charge(price, units));
  });
});

test('R-523: a receipt’s factors are those of the estimate, with the rates as they were written', () => {
  holds((pricing, selectors, units) => {
    const written = chargeFactors(pricing, selectors, units);
    if (written.ratios.some(({ ratio }) => ratio === 0)) return;
    assert.deepEqual(frozenFactors(freezePrice(pricing, selectors), units), written);
  });
});

test('a price without a rate for writing to a cache is frozen as before there was one, and explains such tokens as input', () => {
  const price = freezePrice(pricingSchema.parse(chat), {});
  assert.deepEqual(
    price.rates.map(({ unit }) => unit),
    ['inputTokens', 'cachedTokens', 'outputTokens', 'reasoningTokens'],
  );
  const units = { inputTokens: 1, cacheWriteTokens: 2 };
  for (const factors of [frozenFactors(price, units), chargeFactors(pricingSchema.parse(chat), {}, units)]) {
    assert.deepEqual(factors.units, [{ unit: 'inputTokens', rate: 2, per: 1000, count: 3 }]);
  }
});

test('a price with one explains them by it', () => {
  const pricing = pricingSchema.parse(writing);
  const units = { inputTokens: 1, cacheWriteTokens: 2 };
  const told = [
    { unit: 'inputTokens', rate: 2, per: 1000, count: 1 },
    { unit: 'cacheWriteTokens', rate: 2.5, per: 1000, count: 2 },
  ];
  assert.deepEqual(chargeFactors(pricing, {}, units).units, told);
  assert.deepEqual(frozenFactors(freezePrice(pricing, {}), units).units, told);
});
