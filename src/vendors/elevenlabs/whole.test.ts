import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { request } from 'undici';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { rowsOf } from '../../../test/support/keeping.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { soundOf } from './emulator/sounds.ts';
import { ElevenLabsEmulator } from './emulator.ts';

// Songs, effects and stored transcripts in the whole program.
const PRICE = 30;
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
let database: TestDatabase;
let gateway: Gateway;
let first: ElevenLabsEmulator;
let second: ElevenLabsEmulator;
let caller: NewCaller;

before(async () => {
  database = await createDatabase();
  gateway = await Gateway.start({ database });
});
after(async () => {
  await gateway.stop();
  await database.drop();
});

beforeEach(async () => {
  const options = { apiKey: KEY, marker: MARKER, hasWebhook: true, readsUntilStored: 2 };
  [first, second] = [new ElevenLabsEmulator(options), new ElevenLabsEmulator(options)];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    const rest = { api_key: KEY, priority: 9 - at, timeout_seconds: 60, dialect: 'webhook' };
    return { id: `eleven-${at}`, vendor: 'elevenlabs', base_url: url, ...rest };
  });
  const routesTo = (model: string) => upstreams.map(({ id }) => ({ upstream: id, model }));
  const music = { modality: 'audio', owned_by: 'studio', endpoints: ['audio_music'] };
  const pricing = { mode: 'per_request', credits: { base: PRICE } };
  const accepts = { seconds_max: 30, n_max: 4 };
  await gateway.putConfig({
    upstreams,
    models: [
      { ...music, id: 'studio/song', pricing, accepts, routes: routesTo('music_v1') },
      { ...music, id: 'studio/effect', pricing, accepts, routes: routesTo('eleven_text_to_sound_v2') },
      {
        id: 'studio/ears',
        modality: 'audio',
        owned_by: 'studio',
        endpoints: ['transcriptions'],
        pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
        routes: routesTo('scribe_v2'),
      },
    ],
  });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

const paid = (credits: number) => ({ available: 1000 - credits, reserved: 0, spent: credits });
const counts = () => [first.requests.length, second.requests.length];

function ask(model: string, fields: object = {}) {
  const body = { model, prompt: 'A march', duration_seconds: 3, ...fields };
  return gateway.call('POST', '/v1/audio/music', { key: caller.key, body });
}

async function create(model: string, fields: object = {}): Promise<string> {
  const answer = await ask(model, fields);
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

async function read(id: string) {
  return (await gateway.call('GET', `/v1/jobs/${id}`, { key: caller.key })).json;
}

/** Lets time pass until the job is over. */
async function ended(id: string) {
  await until(async () => {
    gateway.clock.advance(1);
    return !['queued', 'running'].includes((await read(id)).status);
  });
  return read(id);
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

for (const [model, route] of [
  ['studio/song', 'music'],
  ['studio/effect', 'effect'],
] as const) {
  describe(model, () => {
    test('pieces are as many calls, delivered as they were made', async () => {
      const job = await ended(await create(model, { n: 2 }));
      assert.equal(job.status, 'succeeded', JSON.stringify(job));
      const sound = await soundOf('mp3_44100_128', 3);
      assert.deepEqual(await delivered(job.id), [sound, sound]);
      assert.deepEqual(
        first.submissions.map((submission) => submission.route),
        [route, route],
      );
      assert.doesNotMatch(JSON.stringify(job), new RegExp(`${MARKER}|eleven|music_v1`));
      assert.deepEqual(await moneyOf(gateway, caller), paid(2 * PRICE));
    });

    test('a field that it does not take is refused before anything is held', async () => {
      const answer = await ask(model, { voice: 'x' });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[0, 0], UNTOUCHED]);
    });

    const FINAL: readonly [ErrorName, code: string][] = [
      ['invalid', 'upstream_rejected'],
      ['oldBadPrompt', 'content_rejected'],
    ];
    for (const [error, code] of FINAL) {
      test(`${error} is final and free of charge`, async () => {
        first.refuse(error);
        const job = await ended(await create(model));
        assert.deepEqual([job.status, job.error_code], ['failed', code], JSON.stringify(job));
        assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[1, 0], UNTOUCHED]);
      });
    }

    for (const error of ['throttled', 'oldNoCredit', 'broken'] as const) {
      test(`${error} is made good by another upstream`, async () => {
        first.refuse(error);
        const job = await ended(await create(model));
        assert.equal(job.status, 'succeeded', JSON.stringify(job));
        assert.equal(second.submissions.length, 1);
        assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
        if (error !== 'oldNoCredit') return;
        const { whole } = await upstreamHealth(gateway, 'eleven-0');
        assert.equal(whole.state, 'open', JSON.stringify(whole));
      });
    }

    const LOST: readonly Script[] = [
      { kind: 'fault', fault: 'reset' },
      { kind: 'fault', fault: 'reset in the answer' },
      { kind: 'fault', fault: 'garbage' },
      { kind: 'instead', status: 200, headers: { 'content-type': 'application/json' }, body: '{"id": ' },
    ];
    for (const [at, script] of LOST.entries()) {
      test(`an answer that is lost is not asked for twice, and costs nothing (${at + 1})`, async () => {
        first.script(script);
        const job = await ended(await create(model));
        assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
        assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[1, 0], UNTOUCHED]);
      });
    }
  });
}

test('a song that was being made when the process ended is not asked for twice, and costs nothing', async () => {
  first.script({ kind: 'fault', fault: 'silence' });
  const id = await create('studio/song');
  await until(() => first.requests.length === 1);
  await gateway.stop(0);
  gateway = await Gateway.start({ database });
  const job = await ended(id);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[1, 0], UNTOUCHED]);
});

function hear() {
  return gateway.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP, { model: 'studio/ears' }), key: caller.key });
}

/** For an upstream that is polled again and again. */
async function whileTimePasses<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => gateway.clock.advance(0.05), 5);
  return work.finally(() => clearInterval(timer));
}

test('a stored transcript is polled for until it is there, and charged once', async () => {
  const answer = await whileTimePasses(hear());
  assert.deepEqual([answer.status, answer.json?.text], [200, 'Hello there. (laughter) Hi'], answer.text);
  assert.deepEqual(
    first.requests.map(({ method }) => method),
    ['POST', 'GET', 'GET', 'GET'],
  );
  assert.deepEqual(await moneyOf(gateway, caller), paid(CLIP_PRICE));
});

test('a transcript that outlives its process is read by the next one, and the sound never sent again', async () => {
  const lost = hear();
  lost.catch(() => undefined);
  const records = () =>
    rowsOf<{ id: string }>(gateway, 'select id from transcriptions where account_id = $1 and task is not null', [
      caller.accountId,
    ]);
  await until(async () => (await records()).length === 1);
  const [{ id } = assert.fail()] = await records();
  await gateway.stop(0);
  await assert.rejects(lost);
  gateway = await Gateway.start({ database });
  await until(async () => {
    gateway.clock.advance(5);
    const record = await gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: caller.key });
    return record.json?.status === 'completed';
  });
  assert.equal(first.submissions.length, 1);
  assert.deepEqual(await moneyOf(gateway, caller), paid(CLIP_PRICE));
});
