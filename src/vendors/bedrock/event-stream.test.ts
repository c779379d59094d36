import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { messageOf } from './emulator.ts';
import { readEventStream } from './event-stream.ts';

const [SHORT, LONG] = ['good', 'x'.repeat(100_000)];
const STREAM = Buffer.concat([SHORT, LONG, SHORT].map((text) => messageOf('event', 'delta', { text })));

async function textsOf(pieces: Iterable<Buffer>): Promise<unknown[]> {
  const events = await Array.fromAsync(readEventStream(Readable.from(pieces, { objectMode: true })));
  return events.map(({ body }) => body.text);
}

function* cut(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

for (const size of [1, 11, 12, 13, 127, 65_536, STREAM.length]) {
  test(`messages come whole out of pieces of ${size} bytes`, async () => {
    assert.deepEqual(await textsOf(cut(STREAM, size)), [SHORT, LONG, SHORT]);
  });
}

test('a stream that ends inside a message has failed, wherever that is', async () => {
  const first = messageOf('event', 'delta', { text: SHORT });
  for (let bytes = 1; bytes < first.length; bytes++) {
    const pieces = cut(Buffer.concat([first, first.subarray(0, bytes)]), 7);
    await assert.rejects(textsOf(pieces), { fault: 'server' });
  }
  assert.deepEqual(await textsOf([]), []);
});
