import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Fields } from './support/documents.ts';
import type { Gateway, NewCaller } from './support/gateway.ts';
import { clip, toneAs } from './support/media-samples.ts';
import { MediaStudio, MUSIC, musicModel, VIDEOS, videoModel } from './support/media-studio.ts';
import { moneyOf, paidCaller, spentInTheEnd } from './support/paid-calls.ts';
import { PRICE, SPEECH, SpeechStudio, speechBody } from './support/speech-studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

/** What an upstream delivers is charged as far as it was ordered (ADR 0022). */

const SECOND = { mode: 'per_second', credits: { per_second: 10 } };
const FILM = await clip({ seconds: 6.5 });
const LONG = await toneAs('mp3', { seconds: 40 });
/** A second of samples whose header says that there is one of them in a second. */
const SLOW = await toneAs('wav', { seconds: 1, sampleRate: 8000 });
SLOW.writeUInt32LE(1, 24);
SLOW.writeUInt32LE(2, 28);

async function lastDetail(gateway: Gateway, upstream: string): Promise<string> {
  const { last_detail } = (await upstreamHealth(gateway, upstream)).model;
  return typeof last_detail === 'string' ? last_detail : '';
}

describe('jobs', () => {
  const open = [{ upstream: 'open-queue', model: 'any/maker' }];
  const studio = new MediaStudio({
    delivered: { video: FILM, audio: LONG },
    models: [
      videoModel('film', open, { seconds_max: 20 }, { pricing: SECOND }),
      videoModel('film/open', open, {}, { pricing: SECOND }),
      musicModel('song', open, {}, { pricing: SECOND }),
    ],
  });
  before(() => studio.start());
  after(() => studio.stop());
  let caller: NewCaller;
  beforeEach(async () => {
    caller = await paidCaller(studio.gateway, 10_000);
  });
  afterEach(() => studio.gateway.assertBooksBalance());

  async function charged(path: string, body: Fields): Promise<number> {
    const before = await moneyOf(studio.gateway, caller);
    const job = await studio.made(caller, path, { body: { prompt: 'x', ...body } });
    const { spent } = await moneyOf(studio.gateway, caller);
    assert.equal(spent - before.spent, job.usage.credits);
    return job.usage.credits;
  }

  test('R-372: a video within a second and a twentieth of the order costs what it is long', async () => {
    assert.equal(await charged(VIDEOS, { model: 'film', seconds: 6 }), 65);
    assert.equal(await lastDetail(studio.gateway, 'open-queue'), '');
  });

  test('R-372: a longer one costs what was ordered, and the operator sees it', async () => {
    assert.equal(await charged(VIDEOS, { model: 'film', seconds: 5 }), 50);
    assert.match(await lastDetail(studio.gateway, 'open-queue'), /delivers 6\.5 seconds on an order of 5$/);
  });

  test('R-372: without an order the model decides the length', async () => {
    assert.equal(await charged(VIDEOS, { model: 'film' }), 65);
    assert.equal(await charged(VIDEOS, { model: 'film/open' }), 65);
  });

  test('a piece of music that is longer than ordered costs what was ordered', async () => {
    const credits = await charged(MUSIC, { model: 'song', duration_seconds: 10 });
    assert.equal(credits, 100);
    assert.ok((await charged(MUSIC, { model: 'song' })) >= 400);
  });

  test('a result that its upstream labels as a text or as JSON is known by its bytes', async () => {
    for (const type of ['text/plain', 'application/json', 'application/octet-stream']) {
      studio.openQueue.deliveredType = type;
      const job = await studio.made(caller, MUSIC, { body: { model: 'song', prompt: 'x', duration_seconds: 40 } });
      assert.equal(job.status, 'succeeded');
    }
  });

  test('a result that cannot play for as long as it says is not delivered, and nothing is charged', async () => {
    studio.openQueue.delivered.audio = SLOW;
    const { id } = await studio.create(caller, MUSIC, { model: 'song', prompt: 'x', duration_seconds: 5 });
    const { status, error_code } = await studio.ended(caller, id);
    assert.deepEqual([status, error_code], ['failed', 'undeliverable_output']);
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  });
});

describe('speech', () => {
  const studio = new SpeechStudio();
  before(() => studio.start());
  after(() => studio.stop());
  let caller: NewCaller;
  beforeEach(async () => {
    caller = await paidCaller(studio.gateway, 10_000);
  });
  afterEach(() => studio.rest());

  const BY_LENGTH = { model: 'voice/seconds', response_format: 'mp3' };
  /** Nine characters are held at 0.9 seconds, and believed at ten times that and a second. */
  for (const output of ['binary', 'url'] as const) {
    test(`R-389: ${output}: a clip that is longer than its text can be costs what was held for it`, async () => {
      studio.first.script({ kind: 'sound', pieces: [LONG] });
      const answer = await studio.speak(caller, { ...BY_LENGTH, output });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(await spentInTheEnd(studio.gateway, caller), 0.9 * PRICE.second);
      assert.match(await lastDetail(studio.gateway, 'first'), /on an order of 0\.9/);
    });
  }

  test('R-389: a length that is asked for is the order', async () => {
    studio.first.script({ kind: 'sound', pieces: [LONG] });
    await studio.speak(caller, { ...BY_LENGTH, duration_seconds: 3 });
    assert.equal(await spentInTheEnd(studio.gateway, caller), 3 * PRICE.second);
  });

  for (const output of ['url', 'b64_json', 'binary'] as const) {
    test(`${output}: a clip that cannot play for as long as it says is made elsewhere`, async () => {
      studio.first.script({ kind: 'sound', pieces: [SLOW] });
      const body = speechBody({ model: 'voice/clips', response_format: 'wav', output });
      const answer = await studio.gateway.call('POST', SPEECH, { key: caller.key, body });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual([studio.first.requests.length, studio.second.requests.length], [1, 1]);
      assert.match(await lastDetail(studio.gateway, 'first'), /cannot play/);
    });
  }
});
