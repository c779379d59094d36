import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

// Prices of an example are derived from public ones: each line of them tells the dollars, their source and its month, and the
// credits are those dollars. A thousandfold mistake of a unit is a test that fails.

const HEADER =
  '# A credit is a thousandth of a dollar. Prices are list prices without a margin, each with its source and date: check them first.';

/** `$2, $10 a million: where it was read, 2026-11`, with more words before or after the date. */
const SOURCED = /^(?<dollars>\$[\d.]+(?:, \$[\d.]+)*) (?<unit>an? [a-z ]+): .*\b20\d\d-\d\d\b/;
const DATED = /\b20\d\d-\d\d\b/;

/** How many credits of the rate as it is written are a dollar for the unit of the list. */
const CREDITS_PER_DOLLAR: Readonly<Record<string, number>> = {
  'a million': 1, // tokens, where a rate is for a thousand
  'a million characters': 1,
  'a million bytes': 1,
  'a thousand characters': 1000,
  'a second': 1000,
  'a minute': 1000 / 60,
  'an hour': 1000 / 3600,
  'an image': 1000,
  'a song': 1000,
  'a voice': 1000,
};

const UNITS_OF_MODE: Readonly<Record<string, RegExp>> = {
  per_token: /^a million$/,
  per_k_char: / (characters|bytes)$/,
  per_second: /^an? (second|minute|hour)$/,
  per_audio_second: /^an? (second|minute|hour)$/,
  per_image: /^an image$/,
  per_request: /^an? (song|voice)$/,
};

for (const file of globSync('examples/*.yaml').sort()) {
  describe(file, () => {
    const text = readFileSync(file, 'utf8');
    const prices = pricesIn(text);

    test('says in the words of all examples what a credit is', () => {
      assert.equal(text.split('\n').filter((line) => line === HEADER).length, 1, HEADER);
    });

    test('every line of a price has a source with its date, or is a placeholder', () => {
      assert.ok(prices.length > 0);
      for (const { line, comment } of prices) {
        assert.ok(DATED.test(comment) || comment.startsWith('placeholder: '), `line ${line}: ${comment}`);
      }
    });

    test('the credits are the dollars of the list', () => {
      for (const { line, comment, mode, key, numbers, headline } of prices) {
        const sourced = SOURCED.exec(comment)?.groups;
        if (key.endsWith('_ratio')) {
          if (!comment.startsWith('$')) continue;
          assert.ok(sourced, `line ${line}: expected "$N, $M a unit: source, YYYY-MM", not ${comment}`);
          const expected = numbers.map((ratio) => ratio * headline);
          assertClose(expected, creditsOf(sourced), line);
        } else if (!comment.startsWith('placeholder: ')) {
          assert.ok(sourced, `line ${line}: expected "$N a unit: source, YYYY-MM", not ${comment}`);
          assert.match(sourced.unit ?? '', UNITS_OF_MODE[mode] ?? /^$/, `line ${line}`);
          assertClose(numbers, creditsOf(sourced), line);
        }
      }
    });
  });
}

interface PriceLine {
  readonly line: number;
  readonly comment: string;
  readonly mode: string;
  readonly key: string;
  /** The rates or ratios of the line in order, without those that are 0. */
  readonly numbers: readonly number[];
  /** The rate that ratios multiply. */
  readonly headline: number;
}

function pricesIn(text: string): PriceLine[] {
  const counter = new LineCounter();
  const lines = text.split('\n');
  const models = parseDocument(text, { lineCounter: counter }).get('models');
  assert.ok(isSeq(models));
  return models.items.flatMap((model) => {
    const pricing = isMap(model) ? model.get('pricing') : undefined;
    assert.ok(isMap(pricing));
    const headline = numbersIn(pricing.get('credits'))[0] ?? 0;
    const maps = pricing.items.flatMap(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : '';
      const rungs = isSeq(value) ? value.items : [value];
      return rungs.filter((rung) => isMap(rung)).map((map) => ({ name, map }));
    });
    return maps.map(({ name, map }) => {
      const line = counter.linePos(map.range?.[0] ?? 0).line;
      const [, comment = ''] = (lines[line - 1] ?? '').split(/ # (.*)/);
      const mode = String(pricing.get('mode'));
      return { line, comment, mode, key: name, numbers: numbersIn(map), headline };
    });
  });
}

function numbersIn(node: unknown): number[] {
  assert.ok(isMap(node));
  const rates = node.items.filter(({ key }) => !isScalar(key) || key.value !== 'min_prompt_tokens');
  return rates.map(({ value }) => (isScalar(value) ? Number(value.value) : Number.NaN)).filter((rate) => rate !== 0);
}

function creditsOf({ dollars = '', unit = '' }: Readonly<Record<string, string>>): number[] {
  const perDollar = CREDITS_PER_DOLLAR[unit];
  assert.ok(perDollar, `unknown unit "${unit}"`);
  return dollars.split(', ').map((amount) => Number(amount.slice(1)) * perDollar);
}

/** A ratio or a rate is written with few decimals. */
function assertClose(actual: readonly number[], expected: readonly number[], line: number): void {
  const isClose = actual.length === expected.length && actual.every((value, at) => near(value, expected[at] ?? 0));
  assert.ok(isClose, `line ${line}: ${actual.join(', ')} credits, but the dollars are ${expected.join(', ')}`);
}

function near(left: number, right: number): boolean {
  return Math.abs(left - right) <= 0.02 * right;
}
