import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json.ts';
import { textMatching } from './pattern.ts';
import { schemaIn } from './prompt-schema.ts';
import { seriesOf } from './random.ts';
import { fitting } from './schema.ts';

const ajv = new Ajv({ strict: false, logger: false, multipleOfPrecision: 6 });

function valueFor(schema: JsonObject, question: string): unknown {
  return fitting(schema, { question, answer: 'An answer of some words.', random: seriesOf(question) });
}

function assertFits(schema: JsonObject, question: string): void {
  const value = valueFor(schema, question);
  assert.ok(ajv.validate(schema, value), `${JSON.stringify(schema)} -> ${JSON.stringify(value)}: ${ajv.errorsText()}`);
}

const bound = fc.integer({ min: -1000, max: 1000 });
const lengths = fc.tuple(fc.nat(30), fc.nat(30));

/** Ranges that hold something, with both kinds of bounds on either side. */
const numbers = fc
  .record({
    type: fc.constantFrom('number', 'integer'),
    least: fc.option(bound, { nil: undefined }),
    span: fc.option(fc.integer({ min: 20, max: 500 }), { nil: undefined }),
    isAbove: fc.boolean(),
    isBelow: fc.boolean(),
    step: fc.constantFrom(undefined, 1, 2, 5, 7, 0.5, 0.25),
  })
  .map(({ type, least, span, isAbove, isBelow, step }): JsonObject => {
    const most = span === undefined ? undefined : (least ?? 0) + span;
    return {
      type,
      ...(least !== undefined && { [isAbove ? 'exclusiveMinimum' : 'minimum']: least }),
      ...(most !== undefined && { [isBelow ? 'exclusiveMaximum' : 'maximum']: most }),
      ...(step !== undefined && { multipleOf: step }),
    };
  });

const texts = fc.oneof(
  lengths.map(([minLength, more]): JsonObject => ({ type: 'string', minLength, maxLength: minLength + more })),
  fc.nat(40).map((maxLength): JsonObject => ({ type: 'string', maxLength })),
  fc
    .constantFrom(
      '^[A-Z]{3}-\\d{4}$',
      '^\\+?[0-9]{7,15}$',
      '^(red|green)$',
      '[a-z]+@[a-z]+\\.com',
      '^v\\d+(\\.\\d+){2}$',
      '^[^x]{2,}$',
    )
    .map((pattern): JsonObject => ({ type: 'string', pattern })),
);

const leaves = fc.oneof(numbers, texts, fc.constant<JsonObject>({ type: 'boolean' }));
const schemas = fc.oneof(
  leaves,
  fc
    .tuple(leaves, lengths)
    .map(([items, [minItems, more]]): JsonObject => ({ type: 'array', items, minItems, maxItems: minItems + more })),
  fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), leaves, { maxKeys: 5 }).map(
    (properties): JsonObject => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    }),
  ),
);

test('what is made of a schema is valid by it, whatever the user said', () => {
  const asked = fc.constantFrom('Hi', 'Give me 5 of "Berlin" and 17.5 or -3 from Paris', '10000000 😀 things', '');
  fc.assert(fc.property(schemas, asked, assertFits), { numRuns: 2_000 });
});

test('a text of a simple pattern grows to the length that is asked for, where it can', () => {
  assert.equal(textMatching('^[a-z]+$', 5), 'aaaaa'.replace(/./g, 'a'));
  assert.equal(textMatching('^\\d{3}$', 0), '777');
  for (const hard of ['(?=a)b', '\\1', '[', '(', 'a{', '\\p{L}']) assert.equal(textMatching(hard, 0), undefined);
});

test('a schema that stands in the prompt is found in words, in fences and in a wrapper', () => {
  const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 18 } }, required: ['age'] };
  const turn = (text: string) => ({ role: 'user' as const, text, media: [], tool: '' });
  const text = JSON.stringify(schema);
  for (const said of [`Answer by ${text}, please`, `\`\`\`json\n${text}\n\`\`\``, `{"name":"x","schema":${text}}`]) {
    assert.deepEqual(schemaIn([turn(said)]), schema);
  }
  for (const said of ['{"name": "x"}', 'no {braces} to speak of', '{{{{', ''])
    assert.equal(schemaIn([turn(said)]), undefined);
});
