import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { rowsOf } from '../../../test/support/keeping.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { SPEECH } from '../../../test/support/speech-studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { DeepgramEmulator } from './emulator.ts';

// Speech and transcripts in the whole program.
const PRICE = 5;
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
let database: TestDatabase;
let gateway: Gateway;
let first: DeepgramEmulator;
let second: DeepgramEmulator;
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
  [first, second] = [new DeepgramEmulator(KEY, MARKER), new DeepgramEmulator(KEY, MARKER)];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `deep-${at}`, vendor: 'deepgram', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds: 60 };
  });
  const routesTo = (model: string) => upstreams.map(({ id }) => ({ upstream: id, model }));
  const audio = { modality: 'audio', owned_by: 'studio' };
  await gateway.putConfig({
    upstreams,
    models: [
      {
        ...audio,
        id: 'studio/voice',
        endpoints: ['audio_speech'],
        pricing: { mode: 'per_request', credits: { base: PRICE } },
        routes: routesTo('aura-2-thalia-en'),
      },
      {
        ...audio,
        id: 'studio/ears',
        endpoints: ['transcriptions'],
        pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
        routes: routesTo('nova-3'),
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

function speak(fields: object = {}) {
  const body = { model: 'studio/voice', input: 'Hello there.', ...fields };
  return gateway.call('POST', SPEECH, { key: caller.key, body });
}

function hear(fields: Record<string, string> = {}) {
  const form = clipForm(CLIP, { model: 'studio/ears', ...fields });
  return gateway.call('POST', TRANSCRIPTIONS, { ...form, key: caller.key });
}

const WORK = [
  ['speech', speak, PRICE, { seed: 1 }],
  ['transcription', hear, CLIP_PRICE, { temperature: '0.5' }],
] as const;

for (const [kind, ask, price, unsupported] of WORK) {
  describe(kind, () => {
    test('is made, charged once, and tells nothing of its upstream', async () => {
      const answer = await ask();
      assert.equal(answer.status, 200, answer.text);
      assert.doesNotMatch(JSON.stringify(answer.headers) + answer.text, new RegExp(`${MARKER}|deepgram|aura|nova|dg-`));
      assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[1, 0], paid(price)]);
    });

    test('a field that it does not take is refused before anything is held', async () => {
      const answer = await (ask as (fields: object) => ReturnType<typeof speak>)(unsupported);
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[0, 0], UNTOUCHED]);
    });

    test('what the caller is to blame for is final and free of charge', async () => {
      first.refuse('badOption');
      const answer = await ask();
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'upstream_rejected'], answer.text);
      assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[1, 0], UNTOUCHED]);
    });

    const PASSING: readonly ErrorName[] = ['busy', 'noCredit', 'noCreditInWords', 'broken', 'tooLarge', 'brokenUpload'];
    for (const error of PASSING) {
      test(`${error} is made good by another upstream, and charged once`, async () => {
        first.refuse(error, error);
        const answer = await ask();
        assert.equal(answer.status, 200, answer.text);
        assert.equal(second.submissions.length, 1);
        assert.deepEqual(await moneyOf(gateway, caller), paid(price));
        if (!error.startsWith('noCredit')) return;
        const { whole } = await upstreamHealth(gateway, 'deep-0');
        assert.equal(whole.state, 'open', JSON.stringify(whole));
      });
    }

    test('two empty accounts are no fault of the caller’s, and it is not told of them', async () => {
      [first.isBroke, second.isBroke] = [true, true];
      const answer = await ask();
      assert.ok(answer.status >= 500, answer.text);
      assert.doesNotMatch(answer.text, /credit|payment|balance/i);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });

    const LOST: readonly (readonly [name: string, script: Script])[] = [
      ['an answer that is lost', { kind: 'fault', fault: 'reset' }],
      ['what is no HTTP', { kind: 'fault', fault: 'garbage' }],
      [
        'a garbled answer',
        { kind: 'instead', status: 200, headers: { 'content-type': 'application/json' }, body: '{"' },
      ],
    ];
    for (const [name, script] of LOST) {
      test(`${name} is made good by another upstream, and charged once`, async () => {
        first.script(script, script);
        const answer = await ask();
        assert.equal(answer.status, 200, answer.text);
        assert.equal(second.submissions.length, 1);
        assert.deepEqual(await moneyOf(gateway, caller), paid(price));
      });
    }
  });
}

test('a transcript with times has the vendor’s words and segments', async () => {
  const answer = await hear({ response_format: 'verbose_json', language: 'en' });
  assert.equal(answer.status, 200, answer.text);
  const { text, language, segments } = answer.json;
  assert.deepEqual([text, language, segments.length], ['Hello there. Hi.', 'en', 2]);
});

test('a transcript that was under way when the process ended has no task to ask after, and costs nothing', async () => {
  first.script({ kind: 'fault', fault: 'silence' });
  const pending = hear();
  pending.catch(() => undefined);
  await until(() => first.requests.length === 1);
  const sql = 'select id, status from transcriptions where account_id = $1';
  const [{ id } = assert.fail()] = await rowsOf<{ id: string }>(gateway, sql, [caller.accountId]);
  await gateway.stop(0);
  await assert.rejects(pending);
  gateway = await Gateway.start({ database });
  await until(async () => {
    gateway.clock.advance(5);
    const record = await gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: caller.key });
    return record.json?.status === 'unavailable';
  });
  assert.deepEqual([counts(), await moneyOf(gateway, caller)], [[1, 0], UNTOUCHED]);
});
