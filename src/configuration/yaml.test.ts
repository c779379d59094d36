import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JSON_DEPTH_MAX } from '../limits.ts';
import { DocumentError, type DocumentProblem } from './problems.ts';
import { readYaml } from './yaml.ts';

function problemsOf(text: string): readonly DocumentProblem[] {
  try {
    readYaml(text);
  } catch (error) {
    assert.ok(error instanceof DocumentError, `expected DocumentError, got ${String(error)}`);
    return error.problems;
  }
  return [];
}

const DEEP = 100_000;

const READABLE: readonly (readonly [sentence: string, text: string, value: unknown])[] = [
  ['reads block style', 'a:\n  - 1\n  - b', { a: [1, 'b'] }],
  ['reads JSON', '{"a": [1, "b"], "c": null}', { a: [1, 'b'], c: null }],
  ['reads JSON that is indented with tabs', JSON.stringify({ a: [1, { b: 2 }] }, null, '\t'), { a: [1, { b: 2 }] }],
  ['joins the escaped halves of a character', String.raw`{"a": "\ud83d\ude00"}`, { a: '😀' }],
  ['skips a byte order mark', '\uFEFFa: 1', { a: 1 }],
  ['reads words and ratios as YAML 1.2 does', 'a: [yes, 16:9, 1k, 0o10]', { a: ['yes', '16:9', '1k', 8] }],
  ['reads YAML 1.2 also under another directive', '%YAML 1.1\n---\na: yes', { a: 'yes' }],
  ['takes every key as text', '{1: a, true: b}', { 1: 'a', true: 'b' }],
  ['follows aliases', 'a: &x [1]\nb: *x', { a: [1], b: [1] }],
  ['takes a merge key as any other', 'a: &x {b: 1}\nc: {<<: *x}', { a: { b: 1 }, c: { '<<': { b: 1 } } }],
  ['reads the tags of plain values', 'a: !!str 1', { a: '1' }],
  ['reads an empty text as nothing', '# only a comment', null],
];

for (const [sentence, text, value] of READABLE) {
  test(sentence, () => assert.deepEqual(readYaml(text).value, value));
}

const UNREADABLE: readonly (readonly [sentence: string, text: string, problem: RegExp, place?: string])[] = [
  ['refuses a key given twice in YAML', 'a: 1\nb: 2\na: 3', /the key "a" is here twice/, '3:1'],
  ['refuses a key given twice in JSON', '{"a": 1,\n "a": 2}', /the key "a" is here twice/, '2:2'],
  ['refuses a key given twice in two spellings', '{a: 1, "a": 2}', /the key "a" is here twice/],
  ['refuses a second document', 'a: 1\n---\nb: 2', /expected one document/, '2:1'],
  ['refuses tags of its own', 'a: !secret x', /tags/, '1:4'],
  ['refuses binary values', 'a: !!binary aGk=', /tags/],
  ['refuses a raw NUL', 'a: b\nc: "\0"', /NUL/, '2:4'],
  ['refuses an escaped NUL', String.raw`{"a": "\u0000"}`, /cannot be stored/],
  ['refuses a NUL in a key', String.raw`{"a\u0000": 1}`, /cannot be stored/],
  ['refuses half of a character', String.raw`{"a": "\ud800"}`, /cannot be stored/],
  ['refuses a key that is a list', '? [a]\n: b', /a key must be plain text/],
  ['refuses an alias without its anchor', 'a: *x', /no anchor/, '1:4'],
  ['refuses a list that holds itself', 'a: &x [*x]', /nested deeper than 64/],
  ['refuses an open bracket', '{"a": [1, 2}', /./],
  ['refuses tabs as indentation of a block', 'a:\n\tb: 1', /tabs are not allowed/, '2:1'],
];

for (const [sentence, text, expected, place] of UNREADABLE) {
  test(sentence, () => {
    const [first] = problemsOf(text);
    assert.match(first?.problem ?? '', expected);
    if (place !== undefined) assert.equal(`${first?.line}:${first?.column}`, place);
  });
}

const DEEP_TEXTS = {
  'JSON lists': '['.repeat(DEEP) + ']'.repeat(DEEP),
  'JSON maps': `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
  'unclosed flow maps': '{a: '.repeat(DEEP),
  'flow lists in flow maps': '{a: ['.repeat(DEEP),
  'block lists on one line': '- '.repeat(DEEP),
  'explicit keys': '? '.repeat(DEEP),
  'block maps': Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
};

for (const [style, text] of Object.entries(DEEP_TEXTS)) {
  test(`refuses depth without following it: ${style}`, () => {
    assert.deepEqual(
      problemsOf(text).map(({ problem }) => problem),
      [`nested deeper than ${JSON_DEPTH_MAX} levels`],
    );
  });
}

test('reads the depth that is allowed and not one more', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.deepEqual(problemsOf(nested(JSON_DEPTH_MAX)), []);
  assert.equal(problemsOf(nested(JSON_DEPTH_MAX + 1)).length, 1);
});

test('refuses aliases of aliases before they expand', () => {
  const names = 'abcdefghij'.split('');
  const lines = names.map((name, index) => {
    const parts =
      index === 0
        ? '1'
        : Array(9)
            .fill(`*${names[index - 1]}`)
            .join(', ');
    return `${name}: &${name} [${parts}]`;
  });
  assert.match(problemsOf(lines.join('\n'))[0]?.problem ?? '', /aliases would expand too far/);
});

test('refuses more aliases than anyone writes', () => {
  const text = Array.from({ length: 1002 }, (_, index) => `k${index}: ${index === 0 ? '&x 1' : '*x'}`).join('\n');
  assert.match(problemsOf(text).at(-1)?.problem ?? '', /more than 1000 aliases/);
});

test('takes a map of very many keys in time that grows with them', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}": 1`);
  assert.deepEqual(problemsOf(`{${keys.join(',')}}`), []);
});

test('never quotes the text around a mistake, for it may be a key', () => {
  const texts = ['{"api_key": sk-hidden "x" ]', 'api_key: @sk-hidden', 'api_key: "sk-hidden', 'api_key: *sk-hidden'];
  for (const text of texts) {
    const problems = problemsOf(text);
    assert.notEqual(problems.length, 0);
    assert.doesNotMatch(JSON.stringify(problems), /hidden/);
  }
});

test('reads any JSON as JSON.parse does', () => {
  const key = fc.string({ unit: 'grapheme', maxLength: 40 });
  const value = fc.jsonValue({ stringUnit: 'grapheme' });
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.constantFrom(undefined, 2, '\t'), (record, indent) => {
      const text = JSON.stringify(record, null, indent);
      fc.pre(!text.includes(String.raw`\u0000`));
      assert.deepEqual(readYaml(text).value, JSON.parse(text));
    }),
  );
});

test('reads any text at all or says what is wrong with it', () => {
  const line = fc.constantFrom(
    'a: 1',
    '- b',
    '  c: [',
    '? x',
    '&q',
    '*q',
    '!t',
    '"',
    "'",
    '|',
    '%YAML',
    '---',
    '}',
    '\t',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 12 }), (lines) => {
      problemsOf(lines.join('\n'));
    }),
  );
});
