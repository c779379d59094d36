import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { VECTORS_BYTES_MAX } from '../../limits.ts';
import { base64Of } from '../emulator/vectors.ts';
import type { JsonWithBlobs } from './blobs.ts';
import { readJsonWithVectors } from './vectors.ts';

async function* inPieces(text: string, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  for (const [at, border] of borders.entries()) yield bytes.subarray(borders[at - 1] ?? 0, border);
}

function read(text: string, ...cuts: readonly number[]): Promise<JsonWithBlobs> {
  return readJsonWithVectors({ status: 200, headers: {}, body: inPieces(text, cuts) }, 'embedding');
}

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const vector = fc.array(float, { minLength: 1, maxLength: 40 });
const cuts = fc.array(fc.nat({ max: 10_000 }), { maxLength: 40 });
const bytesOf = (numbers: readonly number[]) => Buffer.from(base64Of(numbers), 'base64');

/** As servers print a float32: with the digits of the double that it is, or with no more than it needs. */
const PRINTS: readonly ((value: number) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => value.toPrecision(9),
  (value) => value.toExponential(8),
];

test('numbers and base64 become the same float32, bit by bit, wherever the pieces end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(vector, { minLength: 1, maxLength: 5 }), cuts, async (vectors, at) => {
      const blobs = vectors.map(bytesOf);
      const json = { object: 'embedding', data: vectors.map((_, embedding) => ({ index: 1, embedding })) };
      const written = (texts: readonly string[]) =>
        `{ "object": "embedding", "data": [${texts.map((text) => `{"index":1,"embedding" : ${text}}`).join(', ')}] }`;
      const asBase64 = written(vectors.map((numbers) => `"${base64Of(numbers)}"`));
      assert.deepEqual(await read(asBase64, ...at), { json, blobs });
      for (const print of PRINTS) {
        // JSON has no sign for a zero in some prints, and a float is then the other zero.
        const plain = vectors.map((numbers) => numbers.map((value) => (value === 0 ? 0 : value)));
        const text = written(plain.map((numbers) => `[\n ${numbers.map(print).join(' ,\n ')} ]`));
        assert.deepEqual(await read(text, ...at), { json, blobs: plain.map(bytesOf) });
      }
    }),
  );
});

test('a zero keeps its sign', async () => {
  const { blobs } = await read('{"embedding":[-0.0,0,-0]}');
  assert.deepEqual(blobs, [bytesOf([-0, 0, -0])]);
});

for (const [name, list] of [
  ['a hole', '[1,,2]'],
  ['a comma at its end', '[1,]'],
  ['a list in it', '[[1,2],[3]]'],
  ['null in it', '[1,null]'],
  ['a text in it', '[1,"2"]'],
  ['what no float32 is near to', '[1e39]'],
  ['a word in it', '[NaN]'],
]) {
  test(`a vector with ${name} is garbled`, () => assert.rejects(read(`{"embedding":${list}}`), { fault: 'garbled' }));
}

test('an empty vector is empty', async () => {
  assert.deepEqual(await read('{"embedding":[ ]}'), { json: { embedding: 0 }, blobs: [Buffer.alloc(0)] });
});

test('all vectors of an answer together are bounded, in either form', async () => {
  const half = 'A'.repeat((VECTORS_BYTES_MAX / 3) * 2 + 4);
  await assert.rejects(read(`{"a":{"embedding":"${half}"},"b":{"embedding":"${half}"}}`), { fault: 'garbled' });
  const many = '0,'.repeat(VECTORS_BYTES_MAX / 4);
  await assert.rejects(read(`{"embedding":[${many}0]}`), { fault: 'garbled' });
  const { blobs } = await read(`{"embedding":[${many.slice(0, -1)}]}`);
  assert.equal(blobs[0]?.length, VECTORS_BYTES_MAX);
});
