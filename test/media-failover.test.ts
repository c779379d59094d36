import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { ElevenLabsEmulator } from '../src/vendors/elevenlabs/emulator.ts';
import { ScriptedServer } from '../src/vendors/emulator/scripted-server.ts';
import { LumaEmulator } from '../src/vendors/luma/emulator.ts';
import { RunwayEmulator } from '../src/vendors/runway/emulator.ts';
import type { Fields } from './support/documents.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from './support/media-models.ts';
import { clip, picture, toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { CLIP_PRICE, SECOND_PRICE } from './support/studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const KEY = 'key-of-the-operator';
/** Longer than any upstream rests. */
const COOLED_SECONDS = 7200;
const GRANTED = 1000;

// One model of two vendors: clips by runway and then luma, effects by runway and then elevenlabs.
const image = await picture('jpeg', { width: 64, height: 64 });
const results = { image, video: await clip({ seconds: 1 }), audio: await toneAs('mp3', { seconds: 1 }) };
const first = new RunwayEmulator(KEY, results);
const second = new LumaEmulator(KEY, results);
const third = new ElevenLabsEmulator({ apiKey: KEY });
/** Where callers have their own media. */
const files = new ScriptedServer(async () => ({ status: 200, body: image }));
const servers = [first, second, third, files];
let gateway: Gateway;
let caller: NewCaller;
let known: readonly number[];

before(async () => {
  await Promise.all(servers.map((server) => server.start()));
  gateway = await Gateway.start({ settings: { TOLLGATE_FETCH_ALLOW: '127.0.0.1' } });
  const upstream = (id: string, { url }: { readonly url: string }, priority: number) => {
    return { id, vendor: id, base_url: url, api_key: KEY, priority };
  };
  await gateway.putConfig({
    upstreams: [upstream('runway', first, 3), upstream('luma', second, 2), upstream('elevenlabs', third, 1)],
    models: [
      videoModel(
        'both/clip',
        [
          { upstream: 'runway', model: 'gen4.5' },
          { upstream: 'luma', model: 'ray-2' },
        ],
        ['first_frame', 'last_frame'],
      ),
      musicModel(
        'both/effect',
        ['runway', 'elevenlabs'].map((id) => ({ upstream: id, model: 'eleven_text_to_sound_v2' })),
      ),
    ],
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all(servers.map((server) => server.stop()));
});

beforeEach(async () => {
  gateway.clock.advance(COOLED_SECONDS);
  caller = await paidCaller(gateway, GRANTED);
  first.credits = Number.POSITIVE_INFINITY;
  known = counts();
});
afterEach(() => gateway.assertBooksBalance());

/** How many submissions each has had. */
const counts = () => [first, second, third].map(({ requests }) => requests.filter(isSubmission).length);
const isSubmission = ({ method }: { readonly method: string }) => method === 'POST';
const submissions = () => counts().map((count, at) => count - (known[at] ?? 0));

const CLIP = { path: VIDEOS, body: { model: 'both/clip', prompt: 'waves', seconds: 5 } };
const EFFECT = { path: MUSIC, body: { model: 'both/effect', prompt: 'rain', duration_seconds: 2 } };

function ask({ path, body }: { readonly path: string; readonly body: Fields }, fields: Fields = {}) {
  return gateway.call('POST', path, { key: caller.key, body: { ...body, ...fields } });
}

/** Lets time pass until the job is over. */
async function outcomeOf(what: typeof CLIP | typeof EFFECT, fields: Fields = {}) {
  const created = await ask(what, fields);
  assert.equal(created.status, 202, created.text);
  const read = async () => (await gateway.call('GET', `/v1/jobs/${created.json.id}`, { key: caller.key })).json;
  await until(async () => {
    gateway.clock.advance(1);
    return !['queued', 'running'].includes((await read()).status);
  });
  const job = await read();
  // Nothing of it tells which upstream did it.
  assert.doesNotMatch(JSON.stringify(job), /runway|luma|eleven|gen4|ray-2/i);
  return { status: job.status, error: job.error_code };
}

async function assertSpent(credits: number): Promise<void> {
  const expected = { available: GRANTED - credits, reserved: 0, spent: credits };
  assert.deepEqual(await moneyOf(gateway, caller), expected);
}

const SUCCESS = { status: 'succeeded', error: undefined };
/** What was delivered lasts a second, and is settled for that. */
const PRICE_OF_CLIP = SECOND_PRICE;
const BUSY = { status: 503, headers: { 'content-type': 'application/json' }, body: '{"error":"overloaded"}' };

describe('R-516: what one vendor cannot do is done by another, and charged once', () => {
  test('a clip, while the first answers; then the first is broken', async () => {
    assert.deepEqual(await outcomeOf(CLIP), SUCCESS);
    assert.deepEqual(submissions(), [1, 0, 0]);
    first.script({ kind: 'instead', ...BUSY });
    assert.deepEqual(await outcomeOf(CLIP), SUCCESS);
    assert.deepEqual(submissions(), [2, 1, 0]);
    const sent = { model: 'ray-2', prompt: 'waves', duration: '5s', resolution: '720p' };
    assert.deepEqual(second.submissions.at(-1), sent);
    await assertSpent(2 * PRICE_OF_CLIP);
  });

  test('a clip, while the account at the first is out of money, which the operator sees', async () => {
    first.credits = 0;
    for (const _ of [1, 2]) assert.deepEqual(await outcomeOf(CLIP), SUCCESS);
    assert.deepEqual(submissions(), [1, 2, 0]);
    assert.equal((await upstreamHealth(gateway, 'runway')).whole.state, 'open');
    await assertSpent(2 * PRICE_OF_CLIP);
  });

  test('a sound, which the first takes as a task and the other answers at once', async () => {
    first.script({ kind: 'instead', ...BUSY });
    assert.deepEqual(await outcomeOf(EFFECT), SUCCESS);
    assert.deepEqual(submissions(), [1, 0, 1]);
    await assertSpent(CLIP_PRICE);
  });
});

test('R-516: a field that the first vendor cannot take goes to the one that can, and to none as anything else', async () => {
  const frame = `${files.url}/frame.jpg`;
  assert.deepEqual(await outcomeOf(CLIP, { first_frame: frame, last_frame: frame }), SUCCESS);
  assert.deepEqual(submissions(), [0, 1, 0]);
  assert.deepEqual((second.submissions.at(-1) as Fields).keyframes, {
    frame0: { type: 'image', url: frame },
    frame1: { type: 'image', url: frame },
  });
  await assertSpent(PRICE_OF_CLIP);
  // The second takes addresses alone, and the first no last frame.
  const inline = `data:image/jpeg;base64,${image.toString('base64')}`;
  const refused = await ask(CLIP, { first_frame: inline, last_frame: inline });
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'unsupported_parameter'], refused.text);
  assert.deepEqual(submissions(), [0, 1, 0]);
  await assertSpent(PRICE_OF_CLIP);
});

test('R-517: a clip whose acceptance got lost is not begun at another vendor, and costs nothing', async () => {
  first.script({ kind: 'fault', fault: 'reset' });
  assert.deepEqual(await outcomeOf(CLIP), { status: 'failed', error: 'upstream_failed' });
  assert.deepEqual(submissions(), [1, 0, 0]);
  await assertSpent(0);
});
