import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { BUFFERED_INPUT_BYTES_MAX, BUFFERED_INPUTS_MAX } from '../src/limits.ts';
import { Booth, CLIP, clipForm } from './support/booth.ts';
import { rowsOf } from './support/keeping.ts';
import { paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

/** One caller may ask for so many at a time. */
const AT_ONCE = 8;

const booth = new Booth();
before(() => booth.start());
after(() => booth.stop());
afterEach(() => booth.gateway.assertBooksBalance());

for (const [bytes, how, stored] of [
  [BUFFERED_INPUT_BYTES_MAX, 'as large as may be held', 0],
  [BUFFERED_INPUT_BYTES_MAX + 1, 'one byte larger', 2],
] as const) {
  test(`a clip ${how} reaches an upstream whole, and so it does the next when that fails`, async () => {
    const before = await storedInputs();
    const caller = await paidCaller(booth.gateway, 10_000);
    const clip = noiseOf(bytes);
    const first = await booth.heard(caller, clipForm(clip, { model: 'booth/open' }));
    booth.ear.script({ kind: 'error', error: 'broken' });
    const second = await booth.heard(caller, clipForm(clip, { model: 'booth/both' }));
    const heard = booth.open.recordings.splice(0).map(({ file }) => file.bytes.equals(clip));
    assert.deepEqual(heard, [true, true]);
    assert.deepEqual(first.json.usage, second.json.usage);
    assert.equal((await storedInputs()) - before, stored);
    booth.gateway.clock.advance(3600);
  });
}

test('when as many clips are held as may be, the next goes to the store, and all are heard', async () => {
  // One may not ask for so many at a time.
  const callers = await Promise.all(Array.from({ length: BUFFERED_INPUTS_MAX }, () => paidCaller(booth.gateway)));
  const [first] = callers;
  assert.ok(first);
  const before = await storedInputs();
  const answers = Promise.withResolvers<void>();
  for (let held = 0; held <= BUFFERED_INPUTS_MAX; held++)
    booth.open.script({ kind: 'transcript', after: answers.promise });
  const hear = (caller = first) => booth.heard(caller, clipForm(CLIP, { model: 'booth/open' }));
  const held = callers.map((caller) => hear(caller));
  await until(() => booth.open.recordings.length === BUFFERED_INPUTS_MAX);
  const next = hear();
  await until(() => booth.open.recordings.length === BUFFERED_INPUTS_MAX + 1);
  assert.equal((await storedInputs()) - before, 1);
  answers.resolve();
  await Promise.all([...held, next]);
  await hear();
  assert.equal((await storedInputs()) - before, 1);
  assert.ok(booth.open.recordings.splice(0).every(({ file }) => file.bytes.equals(CLIP)));
  booth.gateway.clock.advance(3600);
});

test('whatever is refused gives its room back', async () => {
  const before = await storedInputs();
  const refusals: readonly [status: number, clip: Buffer, fields: Record<string, string>, credits: number][] = [
    [402, CLIP, { model: 'booth/open' }, 1],
    [404, CLIP, { model: 'booth/none' }, 100],
    [400, CLIP, { model: 'booth/open', response_format: 'song' }, 100],
    [400, Buffer.from('no sound at all'), { model: 'booth/open' }, 100],
  ];
  for (const [status, clip, fields, credits] of refusals) {
    for (let round = 0; round * AT_ONCE < BUFFERED_INPUTS_MAX; round++) {
      const caller = await paidCaller(booth.gateway, credits);
      const sent = Array.from({ length: AT_ONCE }, () => booth.sent(caller, clipForm(clip, fields)));
      assert.deepEqual(
        (await Promise.all(sent)).map((answer) => answer.status),
        sent.map(() => status),
      );
    }
  }
  await booth.heard(await paidCaller(booth.gateway), clipForm(CLIP, { model: 'booth/open' }));
  assert.equal((await storedInputs()) - before, 0);
  booth.open.recordings.length = 0;
  booth.gateway.clock.advance(3600);
});

/** Ever, whether or not they have been deleted since. */
async function storedInputs(): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    booth.gateway,
    'select count(object_key)::int as count from transcriptions',
  );
  return row?.count ?? 0;
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
