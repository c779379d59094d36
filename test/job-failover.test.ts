import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { request } from 'undici';
import { soundOf } from '../src/vendors/elevenlabs/emulator/sounds.ts';
import { ElevenLabsEmulator } from '../src/vendors/elevenlabs/emulator.ts';
import { MinimaxEmulator } from '../src/vendors/minimax/emulator.ts';
import { XaiEmulator } from '../src/vendors/xai/emulator.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { picture, toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGES } from './support/studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

// One model of two vendors: pictures by xai and then minimax, songs by minimax and then elevenlabs.
const KEY = 'sk-upstream';
const PRICE = 20;
const COOLED_SECONDS = 3600;
const SONG_SECONDS = 3;
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
/** Each vendor makes its own, so that a result tells who made it. */
const samplesOf = async (side: number) => ({
  picture: await picture('jpeg', { width: side, height: side }),
  clip: Buffer.alloc(0),
  sound: await toneAs('mp3', { seconds: 1 }),
});
const ofMinimax = await samplesOf(64);
const minimax = new MinimaxEmulator(KEY, ofMinimax);
const xai = new XaiEmulator(KEY, await samplesOf(96));
const elevenlabs = new ElevenLabsEmulator({ apiKey: KEY });
const emulators = [minimax, xai, elevenlabs];

const PICTURES = {
  path: IMAGES,
  model: { id: 'both/picture', modality: 'image', endpoints: ['images'] },
  first: xai,
  second: minimax,
  routes: [
    { upstream: 'xai', model: 'grok-imagine-image' },
    { upstream: 'minimax', model: 'image-01' },
  ],
  /** What the second vendor takes and the first does not, and what it then makes. */
  field: { seed: 7 },
  result: ofMinimax.picture,
} as const;
const SONGS = {
  path: '/v1/audio/music',
  model: { id: 'both/song', modality: 'audio', endpoints: ['audio_music'] },
  first: minimax,
  second: elevenlabs,
  routes: [
    { upstream: 'minimax', model: 'music-2.6' },
    { upstream: 'elevenlabs', model: 'music_v1' },
  ],
  field: { duration_seconds: SONG_SECONDS },
  result: await soundOf('mp3_44100_128', SONG_SECONDS),
} as const;
type Kind = typeof PICTURES | typeof SONGS;

let gateway: Gateway;
before(async () => {
  await Promise.all(emulators.map((emulator) => emulator.start()));
  gateway = await Gateway.start({ settings: { TOLLGATE_FETCH_ALLOW: '127.0.0.1' } });
  await gateway.putConfig({
    upstreams: [
      { id: 'xai', vendor: 'xai', base_url: xai.url, api_key: KEY, priority: 3 },
      { id: 'minimax', vendor: 'minimax', base_url: minimax.url, api_key: KEY, priority: 2 },
      { id: 'elevenlabs', vendor: 'elevenlabs', base_url: elevenlabs.url, api_key: KEY, priority: 1 },
    ],
    models: [PICTURES, SONGS].map(({ model, routes }) => {
      return { ...model, owned_by: 'both', pricing: { mode: 'per_request', credits: { base: PRICE } }, routes };
    }),
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all(emulators.map((emulator) => emulator.stop()));
});

let caller: NewCaller;
beforeEach(async () => {
  for (const emulator of [minimax, xai]) Object.assign(emulator, { isBroke: false, isBusy: false });
  caller = await paidCaller(gateway);
  gateway.clock.advance(COOLED_SECONDS);
});
afterEach(() => gateway.assertBooksBalance());

const paid = (credits: number) => ({ available: 1000 - credits, reserved: 0, spent: credits });

function submissionsTo({ first, second }: Kind): [number, number] {
  const count = ({ requests }: Kind['first' | 'second']) => requests.filter(({ method }) => method === 'POST').length;
  return [count(first), count(second)];
}

async function read(id: string) {
  return (await gateway.call('GET', `/v1/jobs/${id}`, { key: caller.key })).json;
}

/** The job once it is over, and how many submissions each vendor got for it. */
async function make(kind: Kind, fields: object = {}) {
  const [ofFirst, ofSecond] = submissionsTo(kind);
  const body = { model: kind.model.id, prompt: 'A toll gate', ...fields };
  const answer = await gateway.call('POST', kind.path, { key: caller.key, body });
  assert.equal(answer.status, 202, answer.text);
  await until(async () => {
    gateway.clock.advance(1);
    return !['queued', 'running'].includes((await read(answer.json.id)).status);
  });
  const [toFirst, toSecond] = submissionsTo(kind);
  return { job: await read(answer.json.id), calls: [toFirst - ofFirst, toSecond - ofSecond] };
}

async function delivered(id: string): Promise<Buffer[]> {
  const { items } = (await gateway.call('GET', `/v1/jobs/${id}/assets`, { key: caller.key })).json;
  return Promise.all(
    items.map(async ({ url }: { url: string }) => {
      const { pathname, search } = new URL(url);
      const { body } = await request(gateway.url + pathname + search);
      return Buffer.from(await body.arrayBuffer());
    }),
  );
}

for (const kind of [PICTURES, SONGS]) {
  const [{ upstream }] = kind.routes;
  describe(`${kind.model.id}: ${kind.routes.map((route) => route.upstream).join(', then ')}`, () => {
    test('R-516: what one account cannot pay for another vendor makes, charged once; the first rests', async () => {
      kind.first.isBroke = true;
      const { job, calls } = await make(kind);
      assert.deepEqual([job.status, calls], ['succeeded', [1, 1]], JSON.stringify(job));
      assert.equal((await delivered(job.id)).length, 1);
      assert.doesNotMatch(JSON.stringify(job), /minimax|xai|grok|eleven|image-01|music-2|music_v1/i);
      assert.equal((await upstreamHealth(gateway, upstream)).whole.state, 'open');
      assert.deepEqual((await make(kind)).calls, [0, 1]);
      assert.deepEqual(await moneyOf(gateway, caller), paid(2 * PRICE));
    });

    test('R-516: a limit of one vendor is none of the other', async () => {
      kind.first.isBusy = true;
      const { job, calls } = await make(kind);
      assert.deepEqual([job.status, calls], ['succeeded', [1, 1]], JSON.stringify(job));
      assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
    });

    test('a field that one vendor cannot take is asked of the other at once', async () => {
      const { job, calls } = await make(kind, kind.field);
      assert.deepEqual([job.status, calls], ['succeeded', [0, 1]], JSON.stringify(job));
      assert.deepEqual(await delivered(job.id), [kind.result]);
      assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
    });

    test('R-517: what may have been made although its answer is lost is not asked for again, and is free', async () => {
      kind.first.script({ kind: 'fault', fault: 'reset' });
      const { job, calls } = await make(kind);
      assert.deepEqual([job.status, job.error_code, calls], ['failed', 'upstream_failed', [1, 0]], JSON.stringify(job));
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });

    test('R-046: words that break the rules of one vendor are not tried with the other', async () => {
      const { job, calls } = await make(kind, { prompt: 'a forbidden gate' });
      const outcome = [job.status, job.error_code, calls];
      assert.deepEqual(outcome, ['failed', 'content_rejected', [1, 0]], JSON.stringify(job));
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });
  });
}
