import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { soundAs } from './emulators/openai-audio.ts';
import { canMount, fillDisk, smallDisk } from './support/disk.ts';
import type { NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { workFolder } from './support/postgres.ts';
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

test('without a place for temporary files nothing is asked of an upstream, and nothing is charged', async () => {
  process.env.TMPDIR = '/none/such';
  await studio.refuses(caller, '503 job_service_unavailable', ...OUTPUTS.map((output) => ({ output })));
});

test('what is passed on has no name on disk, so that nothing is left behind by a kill', async (t) => {
  process.env.TMPDIR = workFolder(t);
  const bytes = await soundAs('mp3');
  const never = Promise.withResolvers<void>();
  studio.first.script({ kind: 'sound', pieces: piecewise(bytes.subarray(0, 100), never.promise) });
  await using sound = await OpenSound.open(studio.gateway, caller);
  await sound.until(100);
  assert.deepEqual(readdirSync(process.env.TMPDIR), []);
  never.resolve();
  await sound.rest();
});

test('on a full disk sound is still heard, and its length is reckoned', { skip: !canMount() }, async (t) => {
  process.env.TMPDIR = smallDisk(t);
  const makeRoom = fillDisk(process.env.TMPDIR);
  try {
    const { bytes, isCut, trailers, headers } = await heard(studio.gateway, caller, BY_LENGTH);
    assert.deepEqual([isCut, bytes.equals(await soundAs('wav'))], [false, true]);
    const charged = Number(trailers['x-credits-charged']);
    assert.ok(charged > 0.4 * PRICE.second && charged < 0.6 * PRICE.second, String(charged));
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
      const answer = await studio.speak(caller, { ...BY_LENGTH, output });
      assert.deepEqual([answer.status, answer.json.error.code], [503, 'job_service_unavailable']);
    }
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  } finally {
    makeRoom();
  }
});
