import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonError, parseJson, parseMarked, unmark } from './json.ts';
import { scanJson } from './json-scan.ts';
import { JSON_DEPTH_MAX, JSON_NAMES_MAX, JSON_VALUES_MAX } from './limits.ts';

function forwarded(text: string): string {
  return JSON.stringify(parseJson(text).exact());
}

const NUMBERS_THAT_A_DOUBLE_WOULD_CHANGE = [
  '9007199254740993',
  '1.0',
  '-0',
  '1e400',
  '-1E+400',
  '1e2',
  '0.10',
  '0.1000000000000000055511151231257827',
  '123456789012345678901234567890',
  '1e-400',
];

for (const number of NUMBERS_THAT_A_DOUBLE_WOULD_CHANGE) {
  test(`the number ${number} is forwarded as it was written, wherever it stands`, () => {
    for (const text of [number, `[${number},1]`, `{"a":{"b":[${number}]},"c":${number}}`]) {
      assert.equal(forwarded(text), text);
    }
  });
}

test('a value without such numbers is not parsed a second time', () => {
  const parsed = parseJson('{"a":[1,-2.5,1e+21,"1.0"],"b":"9007199254740993"}');
  assert.equal(parsed.exact(), parsed.value);
});

test('the value itself holds plain numbers, also where they lose something', () => {
  assert.deepEqual(parseJson('[9007199254740993,1.0,1e400]').value, [9007199254740992, 1, Infinity]);
});

test('of a key that is there twice the last number is forwarded', () => {
  assert.equal(forwarded('{"a":1.0,"b":2,"a":3.00}'), '{"a":3.00,"b":2}');
});

test('what looks like a number inside a text stays a text', () => {
  const text = String.raw`{"a":"1.0 \" 2.0 \\","1.0":"\\\" -0"}`;
  assert.equal(forwarded(text), text);
});

function oneOf(chars: string): fc.Arbitrary<string> {
  return fc.constantFrom(...chars.split(''));
}

// A tree is written twice: with spaces for the parser, and without as it must come out.
interface Written {
  readonly spaced: string;
  readonly compact: string;
}

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 });
const digits = fc.string({ unit: oneOf('0123456789'), minLength: 1, maxLength: 24 });
const whole = fc.oneof(fc.constant('0'), fc.tuple(oneOf('123456789'), digits).map(join));
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.oneof(
      fc.constant(''),
      digits.map((text) => `.${text}`),
    ),
    fc.oneof(fc.constant(''), fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), digits).map(join)),
  )
  .map(join);
const tricky = fc.string({ unit: oneOf('"\\[]{}:,-1.0eE\n\u2028\ud800é') });
const text = fc.oneof(fc.string(), tricky).map((value) => JSON.stringify(value));
// Keys that are whole numbers are put first by every JavaScript object.
const name = fc
  .oneof(fc.string(), tricky, fc.constantFrom('__proto__', 'constructor', 'toJSON'))
  // The engine itself reads {"x":1,"\\\"":2} wrongly once it has read {"x":1,"\\\\":2}: no test of ours can do better.
  .filter((key) => !JSON.stringify(key).includes('\\'))
  .filter((key) => !/^\d+$/.test(key));
const word = fc.oneof(number, number, text, fc.constantFrom('true', 'false', 'null'));

const { tree } = fc.letrec<{ tree: Written }>((tie) => ({
  tree: fc.oneof({ depthSize: 'medium' }, word.map(same), list(tie('tree')), map(tie('tree'))),
}));

function list(item: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  return fc.tuple(fc.array(item, { maxLength: 5 }), space).map(([items, gap]) => ({
    spaced: `[${gap}${items.map(({ spaced }) => spaced).join(`${gap},`)}${gap}]`,
    compact: `[${items.map(({ compact }) => compact).join()}]`,
  }));
}

function map(item: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  const entries = fc.uniqueArray(fc.tuple(name, item), { maxLength: 5, selector: ([key]) => key });
  return fc.tuple(entries, space).map(([pairs, gap]) => ({
    spaced: `{${gap}${pairs.map(([key, { spaced }]) => `${JSON.stringify(key)}${gap}:${spaced}`).join(`,${gap}`)}}`,
    compact: `{${pairs.map(([key, { compact }]) => `${JSON.stringify(key)}:${compact}`).join()}}`,
  }));
}

function same(written: string): Written {
  return { spaced: written, compact: written };
}

function join(parts: readonly string[]): string {
  return parts.join('');
}

test('every JSON text is forwarded with its numbers as they were written', () => {
  fc.assert(
    fc.property(tree, ({ spaced, compact }) => assert.equal(forwarded(spaced), compact)),
    { numRuns: 2000 },
  );
});

test('every JSON text has the value that JSON.parse gives it', () => {
  fc.assert(fc.property(tree, ({ spaced }) => assert.deepEqual(parseJson(spaced).value, JSON.parse(spaced))));
});

test('whatever else the text is, it is refused as not valid', () => {
  const nearly = fc.string({ unit: oneOf('"\\[]{}:,-1.0eE truefalsn') });
  fc.assert(
    fc.property(fc.oneof(fc.string(), nearly), (given) => {
      if (isJson(given)) parseJson(given);
      else assert.throws(() => parseJson(given), new JsonError('The body is not valid JSON.'));
    }),
    { numRuns: 2000 },
  );
});

function isJson(given: string): boolean {
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
}

const TOO_DEEP = new JsonError(`The JSON is nested deeper than ${JSON_DEPTH_MAX} levels.`);

const NESTS: readonly (readonly [kind: string, nest: (levels: number) => string])[] = [
  ['lists', (levels) => '['.repeat(levels) + ']'.repeat(levels)],
  ['maps', (levels) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`],
  ['both by turns', (levels) => '[{"a":'.repeat(levels / 2) + (levels % 2 ? '[]' : '1') + '}]'.repeat(levels / 2)],
];

for (const [kind, nest] of NESTS) {
  test(`${JSON_DEPTH_MAX} levels of ${kind} are read and one more is refused`, () => {
    assert.deepEqual(parseJson(nest(JSON_DEPTH_MAX)).value, JSON.parse(nest(JSON_DEPTH_MAX)));
    assert.throws(() => parseJson(nest(JSON_DEPTH_MAX + 1)), TOO_DEEP);
  });
}

test('brackets side by side or inside a text are not depth', () => {
  const beside = `[${Array.from({ length: 1000 }, () => '[[]]').join()}]`;
  const inside = JSON.stringify({ [`${'['.repeat(1000)}"`]: `\\"${'{'.repeat(1000)}` });
  for (const given of [beside, inside]) assert.deepEqual(parseJson(given).value, JSON.parse(given));
});

test('depth without an end is refused before the parser follows it', () => {
  for (const unit of ['[', '{"a":', '[{"a":']) assert.throws(() => parseJson(unit.repeat(1_000_000)), TOO_DEEP);
});

for (const key of ['__proto__', 'constructor', 'prototype']) {
  test(`the key ${key} is plain data, also where numbers are kept as written`, () => {
    const parsed = parseJson(`{"${key}":{"admin":true},"n":1.0}`);
    for (const value of [parsed.value, parsed.exact()]) {
      assert.ok(typeof value === 'object' && value !== null);
      assert.deepEqual(Object.keys(value), [key, 'n']);
      assert.equal(Object.getPrototypeOf(value), Object.prototype);
      assert.equal('admin' in value, false);
    }
    assert.equal('admin' in {}, false);
  });
}

const TOO_MANY_VALUES = new JsonError(`The JSON has more than ${JSON_VALUES_MAX} values.`);
const TOO_MANY_NAMES = new JsonError(`The JSON has more than ${JSON_NAMES_MAX} different names.`);

function listOf(item: string): (count: number) => string {
  return (count) => `[${item}${`,${item}`.repeat(count - 2)}]`;
}

/** Each of `count` values, the outermost included. */
const CROWDS: readonly (readonly [kind: string, crowd: (count: number) => string])[] = [
  ['numbers', listOf('7')],
  ['numbers that need care', listOf('7.0')],
  ['texts', listOf(String.raw`"\":,[]{}"`)],
  ['words', listOf(' true ')],
  ['empty lists', listOf('[]')],
  ['empty objects', listOf('{}')],
  ['members', (count) => `{"first":null${',"next" : false'.repeat(count - 2)}}`],
];

for (const [kind, crowd] of CROWDS) {
  test(`${JSON_VALUES_MAX} values that are ${kind} are read, and one more is refused`, () => {
    const most = crowd(JSON_VALUES_MAX);
    assert.equal(scanJson(most).values, JSON_VALUES_MAX);
    assert.equal(JSON.stringify(parseJson(most).value), JSON.stringify(JSON.parse(most)));
    assert.throws(() => parseJson(crowd(JSON_VALUES_MAX + 1)), TOO_MANY_VALUES);
  });
}

test('values without an end are refused before the parser follows them', () => {
  for (const unit of ['1,', '"a":1,', 'null,']) assert.throws(() => parseJson(unit.repeat(1_000_000)), TOO_MANY_VALUES);
});

test('the values of every JSON text are counted one by one', () => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 1
      : Object.values(value).reduce<number>((sum, item) => sum + count(item), 1);
  fc.assert(fc.property(tree, ({ spaced }) => assert.equal(scanJson(spaced).values, count(JSON.parse(spaced)))));
});

test(`${JSON_NAMES_MAX} different names are read, and one more is refused, in one object or in many`, () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `"name ${at}" : ${at}`);
  for (const write of [
    (count: number) => `{${names(count).join()}}`,
    (count: number) =>
      `[${names(count)
        .map((member) => `{${member}}`)
        .join()}]`,
    (count: number) => `[{${names(count).join()}},{${names(count).join()}}]`,
  ]) {
    const most = write(JSON_NAMES_MAX);
    assert.deepEqual(parseJson(most).value, JSON.parse(most));
    assert.throws(() => parseJson(write(JSON_NAMES_MAX + 1)), TOO_MANY_NAMES);
  }
});

test('a number that looks like a mark is forwarded as it was written, also beside real marks', () => {
  const text = '[1.0,-9000000000000000,-9000000000000001,-9000000000000002,2.0,-1e16,-9007199254740993,-9e15]';
  assert.equal(forwarded(text), text);
  assert.deepEqual(parseJson(text).value, JSON.parse(text));
});

test('what was parsed in another thread is the same here, numbers as written included', () => {
  fc.assert(
    fc.property(tree, ({ spaced, compact }) => {
      const { value, exact } = unmark(structuredClone(parseMarked(spaced)));
      assert.deepEqual(value, JSON.parse(spaced));
      assert.equal(JSON.stringify(exact()), compact);
    }),
  );
});
