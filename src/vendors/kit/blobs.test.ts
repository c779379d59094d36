import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { type JsonWithBlobs, readJsonWithBlobs } from './blobs.ts';

async function* inPieces(text: string, ...cuts: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  for (const [at, border] of borders.entries()) yield bytes.subarray(borders[at - 1] ?? 0, border);
}

function read(body: AsyncIterable<Buffer>, bytesMax = 1_000_000): Promise<JsonWithBlobs> {
  return readJsonWithBlobs({ status: 200, headers: {}, body }, 'b64', bytesMax);
}

test('blobs are decoded, and the rest is parsed, wherever the pieces end', async () => {
  const blobs = [randomBytes(1000), randomBytes(1001), randomBytes(1), Buffer.alloc(0)];
  const list = blobs.map((blob, at) => ({ title: `“${at}”: \\"b64\\":\\"eHg=`, b64: blob.toString('base64') }));
  const text = JSON.stringify({ list, b64: null, other: { b64: 7.5 } }, null, 1);
  const json = { list: list.map(({ title }, b64) => ({ title, b64 })), b64: null, other: { b64: 7.5 } };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 10_000 }), { maxLength: 40 }), async (cuts) => {
      assert.deepEqual(await read(inPieces(text, ...cuts)), { json, blobs });
    }),
  );
});

test('a blob comes whole out of single bytes', async () => {
  const blob = randomBytes(700);
  const text = JSON.stringify({ b64: blob.toString('base64') });
  const answer = await read(inPieces(text, ...Array.from({ length: text.length }, (_, at) => at)));
  assert.deepEqual(answer, { json: { b64: 0 }, blobs: [blob] });
});

const SPELLINGS: readonly { name: string; spell: (base64: string) => string }[] = [
  { name: 'with slashes escaped', spell: (base64) => base64.replaceAll('/', '\\/') },
  { name: 'with signs as numbers', spell: (base64) => base64.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d') },
  { name: 'in lines', spell: (base64) => base64.replace(/.{76}/g, '$&\\r\\n') },
  { name: 'as a data URL', spell: (base64) => `data:image/png;base64,${base64}` },
  { name: 'as a data URL with slashes escaped', spell: (base64) => `data:image\\/png;base64,${base64}` },
  { name: 'in the alphabet for URLs', spell: (base64) => Buffer.from(base64, 'base64').toString('base64url') },
];

for (const { name, spell } of SPELLINGS) {
  test(`base64 ${name} is read, wherever the pieces end`, async () => {
    const blob = Buffer.concat([Buffer.from('fbefbeffff', 'hex'), randomBytes(2000)]);
    const text = `{"b64" : "${spell(blob.toString('base64'))}"}`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 10_000 }), { maxLength: 20 }), async (cuts) => {
        assert.deepEqual((await read(inPieces(text, ...cuts))).blobs, [blob]);
      }),
    );
  });
}

test('a string far behind its key is left where it is', async () => {
  const text = `{"b64":${' '.repeat(100)}"eHg="}`;
  assert.deepEqual((await read(inPieces(text, 90))).json, { b64: 'eHg=' });
});

test('an answer is read up to its bound, and not one byte more', async () => {
  const text = JSON.stringify({ b64: randomBytes(300).toString('base64') });
  assert.equal((await read(inPieces(text, 100), text.length)).blobs.length, 1);
  await assert.rejects(read(inPieces(text, 100), text.length - 1), { fault: 'garbled', isUncertain: true });
});

for (const text of ['', '[]', '{"b64":"eHg=', '{"b64":"eHg="', '{"b64":"eHg="}}', 'Good day.']) {
  test(`what is no JSON object is garbled: ${JSON.stringify(text)}`, () =>
    assert.rejects(read(inPieces(text)), { fault: 'garbled', isUncertain: true }));
}
