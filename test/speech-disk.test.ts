import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { SPOOL_HELD_BYTES_MAX } from '../src/limits.ts';
import { canMount, fillDisk, smallDisk } from './support/disk.ts';
import type { NewCaller } from './support/gateway.ts';
import { toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until, workFolder } from './support/postgres.ts';
import { heard, OpenSound, PRICE, piecewise, SpeechStudio } from './support/speech-studio.ts';

const studio = new SpeechStudio();
before(() => studio.start());
after(() => studio.stop());

const { TMPDIR } = process.env;
let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(async () => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  await studio.rest();
});

const OUTPUTS = ['binary', 'b64_json', 'url'];
const BY_LENGTH = { model: 'voice/seconds', response_format: 'wav' };

/** More than is held in memory. */
const LONG = await toneAs('wav', { seconds: 6, sampleRate: 24_000 });

function scriptLong(): void {
  assert.ok(LONG.length > SPOOL_HELD_BYTES_MAX);
  studio.first.script({ kind: 'sound', pieces: [LONG] });
}

test('a sound of which all is held needs no place for temporary files', async () => {
  process.env.TMPDIR = '/none/such';
  for (const output of OUTPUTS) {
    const answer = await studio.speak(caller, { ...BY_LENGTH, output });
    assert.equal(answer.status, 200, answer.text);
  }
});

test('what is passed on has no name on disk, so that nothing is left behind by a kill', async (t) => {
  process.env.TMPDIR = workFolder(t);
  const never = Promise.withResolvers<void>();
  studio.first.script({ kind: 'sound', pieces: piecewise(LONG, never.promise) });
  await using sound = await OpenSound.open(studio.gateway, caller);
  await sound.until(LONG.length);
  const folder = process.env.TMPDIR;
  await until(() => readdirSync(folder).length === 0);
  never.resolve();
  await sound.rest();
});

test('on a full disk sound is still heard, and its length is reckoned', { skip: !canMount() }, async (t) => {
  process.env.TMPDIR = smallDisk(t);
  const makeRoom = fillDisk(process.env.TMPDIR);
  try {
    scriptLong();
    const { bytes, isCut, trailers, headers } = await heard(studio.gateway, caller, BY_LENGTH);
    assert.deepEqual([isCut, bytes.equals(LONG)], [false, true]);
    const charged = Number(trailers['x-credits-charged']);
    assert.ok(charged > 0 && charged < 6.1 * PRICE.second, String(charged));
    const path = `/v1/requests/${String(headers['x-request-id'])}`;
    const { usage } = (await studio.gateway.call('GET', path, { key: caller.key })).json;
    assert.equal(usage.estimated, true);
  } finally {
    makeRoom();
  }
});

test('on a full disk nothing can go into JSON, and nothing is charged', { skip: !canMount() }, async (t) => {
  process.env.TMPDIR = smallDisk(t);
  const makeRoom = fillDisk(process.env.TMPDIR);
  try {
    for (const output of ['b64_json', 'url']) {
      scriptLong();
      const answer = await studio.speak(caller, { ...BY_LENGTH, output });
      assert.deepEqual([answer.status, answer.json.error.code], [503, 'job_service_unavailable']);
    }
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  } finally {
    makeRoom();
  }
});
