import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIMENSIONS_MAX, vectorOf } from './vector.ts';

const LENGTHS = [DIMENSIONS_MAX, 512, 256, 300, 64];

function similarity(one: string, other: string, dimensions: number): number {
  const [a, b] = [vectorOf(one, dimensions), vectorOf(other, dimensions)];
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

/** Each with a text that is about the same, and one that is not. */
const TRIPLES: readonly (readonly [name: string, text: string, related: string, unrelated: string])[] = [
  ['case', 'The gate opens at dawn', 'THE GATE OPENS AT DAWN', 'Interest rates rose again last week'],
  ['order', 'dogs chase cats in the garden', 'in the garden cats chase dogs', 'in the office we discuss budgets'],
  ['typos', 'How do I reset my password?', 'how do i resset my pasword', 'How do I cook my rice?'],
  ['inflection', 'The painter painted a painting', 'Painters who paint', 'The banker banked a cheque'],
  ['accents', 'Une crème brûlée', 'creme brulee', 'Un train rapide'],
  ['topic', 'Our ferry crosses the river', 'A river crossing by ferry boat', 'The recipe needs two eggs and flour'],
  ['another script', '河上的收费站', '收费站在河上', '今天天气很好'],
  [
    'length',
    'toll prices',
    `The toll prices at this gate depend on the vehicle. ${'Toll prices rise. '.repeat(20)}`,
    'solar eclipse',
  ],
];

for (const [name, text, related, unrelated] of TRIPLES) {
  for (const dimensions of LENGTHS) {
    test(`${name}: related texts are nearer than unrelated ones with ${dimensions} dimensions`, () => {
      const [near, far] = [similarity(text, related, dimensions), similarity(text, unrelated, dimensions)];
      assert.ok(near > far + 0.1, `${near.toFixed(3)} and ${far.toFixed(3)}`);
    });
  }
}

const LIBRARY = [
  'How to reset a forgotten password',
  'Change the language of the interface',
  'Download an invoice as a PDF',
  'Invite a colleague to your team',
  'Delete your account and all data',
  'Connect a payment card',
  'Export usage as a spreadsheet',
  'Report a security problem',
];

for (const [query, place] of [
  ['i forgot my pasword', 0],
  ['INVOICE download pdf', 2],
  ['how do I invite colleagues', 3],
  ['deleting account', 4],
  ['security problems', 7],
] as const) {
  for (const dimensions of LENGTHS) {
    test(`"${query}" finds its page with ${dimensions} dimensions`, () => {
      const found = LIBRARY.map((page) => similarity(query, page, dimensions));
      assert.equal(found.indexOf(Math.max(...found)), place);
    });
  }
}

test('a vector is of length one, the same every time, and the same text is the nearest to itself', () => {
  for (const text of ['A toll gate', '!?', '世', ' ', 'x'.repeat(30_000)]) {
    for (const dimensions of LENGTHS) {
      const vector = vectorOf(text, dimensions);
      assert.equal(vector.length, dimensions);
      assert.deepEqual(vector, vectorOf(text, dimensions));
      assert.ok(Math.abs(similarity(text, text, dimensions) - 1) < 1e-5);
    }
  }
});

test('a shorter vector points where the beginning of the long one does', () => {
  const [long, short] = [vectorOf('A toll gate by the sea', DIMENSIONS_MAX), vectorOf('A toll gate by the sea', 256)];
  const scale = Math.hypot(...long.subarray(0, 256));
  for (const [at, value] of short.entries()) assert.ok(Math.abs(value * scale - (long[at] ?? 0)) < 1e-6);
});
