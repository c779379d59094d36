import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { SPOOL_HELD_BYTES_MAX } from '../limits.ts';
import { StorageUnavailable } from '../storage/index.ts';
import { Spool } from './spool.ts';

const { TMPDIR } = process.env;
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
});

const NOWHERE = '/none/such';

async function spoolOf(...sizes: readonly number[]): Promise<Spool> {
  const spool = new Spool();
  for (const [place, bytes] of sizes.entries()) await spool.write(Buffer.alloc(bytes, place + 1));
  return spool;
}

async function contentOf(spool: Spool): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(spool.pieces()));
}

const wholeOf = (...sizes: readonly number[]) =>
  Buffer.concat(sizes.map((bytes, place) => Buffer.alloc(bytes, place + 1)));

for (const sizes of [[0], [SPOOL_HELD_BYTES_MAX], [SPOOL_HELD_BYTES_MAX - 1, 1]]) {
  test(`pieces of ${sizes.join(' and ')} bytes need no file`, async () => {
    process.env.TMPDIR = NOWHERE;
    await using spool = await spoolOf(...sizes);
    assert.ok((await contentOf(spool)).equals(wholeOf(...sizes)));
    assert.equal((await spool.whole()).bytes, wholeOf(...sizes).length);
  });
}

test('one byte more needs one, and where there can be none the spool says so when it is read', async () => {
  const sizes = [SPOOL_HELD_BYTES_MAX, 1, 7];
  await using spool = await spoolOf(...sizes);
  assert.ok((await contentOf(spool)).equals(wholeOf(...sizes)));
  // As often as it is wanted.
  assert.ok((await contentOf(spool)).equals(wholeOf(...sizes)));
  process.env.TMPDIR = NOWHERE;
  await using lost = await spoolOf(...sizes);
  await assert.rejects(lost.whole(), StorageUnavailable);
});

test('a file holds any number of pieces, of any size, in their order', async () => {
  const sizes = [3, SPOOL_HELD_BYTES_MAX, 5, 3 * SPOOL_HELD_BYTES_MAX, 0, 11];
  await using spool = await spoolOf(...sizes);
  const whole = await spool.whole();
  assert.equal(whole.bytes, wholeOf(...sizes).length);
  assert.ok((await whole.read(0, whole.bytes)).equals(wholeOf(...sizes)));
  assert.ok((await whole.read(1, 4)).equals(wholeOf(...sizes).subarray(1, 4)));
});
