import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { openBlob } from './blob-stream.ts';

/** A body that knows whether its reader has closed it. */
function bodyOf(text: string, ...cuts: readonly number[]) {
  const bytes = Buffer.from(text);
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  const pieces = borders.map((border, at) => bytes.subarray(borders[at - 1] ?? 0, border));
  const state = { isClosed: false, read: 0 };
  async function* body(): AsyncGenerator<Buffer> {
    try {
      for (const piece of pieces) {
        state.read++;
        yield piece;
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { reply: { status: 200, headers: {}, body: body() }, state, pieces };
}

async function open(text: string, ...cuts: readonly number[]) {
  const { reply, ...rest } = bodyOf(text, ...cuts);
  return { answer: await openBlob(reply, 'b64'), ...rest };
}

test('a blob is decoded wherever the pieces end, and only the first of several', async () => {
  const blobs = [randomBytes(4000), randomBytes(50)];
  const list = blobs.map((blob) => ({ title: '“b64”', b64: blob.toString('base64') }));
  const text = JSON.stringify({ done: true, list }, null, 1);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 10_000 }), { maxLength: 40 }), async (cuts) => {
      const { answer, state } = await open(text, ...cuts);
      assert.ok('pieces' in answer);
      assert.deepEqual(Buffer.concat(await Array.fromAsync(answer.pieces)), blobs[0]);
      assert.ok(state.isClosed);
    }),
  );
});

test('a blob is handed out while the rest of it is still to come', async () => {
  const blob = randomBytes(30_000);
  const text = JSON.stringify({ b64: blob.toString('base64') });
  const { answer, state, pieces } = await open(text, 10_000, 20_000, 30_000);
  assert.ok('pieces' in answer && state.read === 2, `${state.read} of ${pieces.length} pieces were read`);
  for await (const piece of answer.pieces) {
    assert.ok(piece.length < 10_000);
    break;
  }
  assert.ok(state.isClosed && state.read === 2);
});

test('a blob that is not wanted is closed unread', async () => {
  const { answer, state } = await open(`{"b64": "${'A'.repeat(1000)}"}`, 100, 200);
  assert.ok('close' in answer);
  await answer.close();
  assert.ok(state.isClosed && state.read < 4);
});

test('an answer without a blob is an object', async () => {
  const { answer } = await open('{"done": false, "title": "\\"b64\\": \\"AAAA"}', 7, 20);
  assert.deepEqual(answer, { json: { done: false, title: '"b64": "AAAA' } });
});

test('an answer that is no object, or ends inside its blob, is garbled', async () => {
  for (const text of ['', '[1]', '{"done":']) await assert.rejects(open(text), { fault: 'garbled' });
  const { answer } = await open(`{"b64": "${'A'.repeat(1000)}`, 500);
  assert.ok('pieces' in answer);
  await assert.rejects(Array.fromAsync(answer.pieces), { fault: 'garbled' });
});
