import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { HELD_INPUT_BYTES_MAX } from '../src/limits.ts';
import { Booth, CLIP, clipForm } from './support/booth.ts';
import { paidCaller } from './support/paid-calls.ts';

const booth = new Booth();
before(() => booth.start());
after(() => booth.stop());
afterEach(() => booth.gateway.assertBooksBalance());

for (const [bytes, how] of [
  [HELD_INPUT_BYTES_MAX, 'as large as may be held'],
  [HELD_INPUT_BYTES_MAX + 1, 'one byte larger'],
] as const) {
  test(`a clip ${how} reaches an upstream whole, and so it does the next when that fails`, async () => {
    const caller = await paidCaller(booth.gateway, 10_000);
    const clip = noiseOf(bytes);
    const first = await booth.heard(caller, clipForm(clip, { model: 'booth/open' }));
    booth.ear.script({ kind: 'error', error: 'broken' });
    const second = await booth.heard(caller, clipForm(clip, { model: 'booth/both' }));
    const heard = booth.open.recordings.splice(0).map(({ file }) => file.bytes.equals(clip));
    assert.deepEqual(heard, [true, true]);
    assert.deepEqual(first.json.usage, second.json.usage);
    booth.gateway.clock.advance(3600);
  });
}

/** No two pieces of it are alike. */
function noiseOf(bytes: number): Buffer {
  const clip = Buffer.alloc(bytes);
  for (let at = 44; at + 4 <= bytes; at += 4) clip.writeUInt32LE(at, at);
  CLIP.copy(clip, 0, 0, 44);
  clip.writeUInt32LE(bytes - 8, 4);
  clip.writeUInt32LE(bytes - 44, 40);
  return clip;
}
