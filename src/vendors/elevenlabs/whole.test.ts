import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { type BenchKind, openBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { rowsOf } from '../../../test/support/keeping.ts';
import { MUSIC, requestModel } from '../../../test/support/media-models.ts';
import { until } from '../../../test/support/postgres.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { soundOf } from './emulator/sounds.ts';
import { ElevenLabsEmulator } from './emulator.ts';

const PRICE = 30;

const song: BenchKind = {
  model: 'studio/song',
  path: MUSIC,
  upstreamModel: 'music_v1',
  body: { prompt: 'A march', duration_seconds: 3 },
  price: PRICE,
  written: (id, routes) => {
    return { ...requestModel('audio', 'audio_music', PRICE)(id, routes), accepts: { seconds_max: 30, n_max: 4 } };
  },
};
const effect: BenchKind = { ...song, model: 'studio/effect', upstreamModel: 'eleven_text_to_sound_v2' };
const ears: BenchKind = {
  model: 'studio/ears',
  path: TRANSCRIPTIONS,
  upstreamModel: 'scribe_v2',
  body: {},
  price: CLIP_PRICE,
  written: (id, routes) => {
    const pricing = { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } };
    return { id, modality: 'audio', owned_by: 'studio', endpoints: ['transcriptions'], pricing, routes };
  },
};

// Songs, effects and stored transcripts in the whole program.
const bench = openBench({
  vendor: 'elevenlabs',
  kinds: [song, effect, ears],
  emulator: () => new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER, hasWebhook: true, readsUntilStored: 2 }),
  upstream: { api_key: KEY, dialect: 'webhook' },
});
const counts = () => [bench.first.requests.length, bench.second.requests.length];

for (const [kind, route] of [
  [song, 'music'],
  [effect, 'effect'],
] as const) {
  describe(kind.model, () => {
    test('pieces are as many calls, delivered as they were made', async () => {
      const job = await bench.made(kind, { n: 2 });
      const sound = await soundOf('mp3_44100_128', 3);
      assert.deepEqual(await bench.delivered(job.id), [sound, sound]);
      assert.deepEqual(
        bench.first.submissions.map((submission) => submission.route),
        [route, route],
      );
      assert.doesNotMatch(JSON.stringify(job), new RegExp(`${MARKER}|eleven|music_v1`));
      assert.deepEqual(await bench.money(), bench.paid(kind, 2));
    });

    test('a field that it does not take is refused before anything is held', async () => {
      const answer = await bench.ask(kind, { voice: 'x' });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([counts(), await bench.money()], [[0, 0], UNTOUCHED]);
    });

    const FINAL: readonly [ErrorName, code: string][] = [
      ['invalid', 'upstream_rejected'],
      ['oldBadPrompt', 'content_rejected'],
    ];
    for (const [error, code] of FINAL) {
      test(`${error} is final and free of charge`, async () => {
        bench.first.refuse(error);
        await bench.assertFailed(await bench.create(kind), code);
      });
    }

    for (const error of ['throttled', 'oldNoCredit', 'broken'] as const) {
      test(`${error} is made good by another upstream`, async () => {
        bench.first.refuse(error);
        await bench.made(kind);
        assert.equal(bench.second.submissions.length, 1);
        assert.deepEqual(await bench.money(), bench.paid(kind));
        if (error !== 'oldNoCredit') return;
        const { whole } = await upstreamHealth(bench.gateway, 'elevenlabs-0');
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
        bench.first.script(script);
        await bench.assertFailed(await bench.create(kind), 'upstream_failed');
      });
    }
  });
}

test('a song that was being made when the process ended is not asked for twice, and costs nothing', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(song);
  await until(() => bench.first.requests.length === 1);
  await bench.restart();
  await bench.assertFailed(id, 'upstream_failed');
});

function hear() {
  return bench.gateway.call('POST', TRANSCRIPTIONS, {
    ...clipForm(CLIP, { model: ears.model }),
    key: bench.caller.key,
  });
}

/** For an upstream that is polled again and again. */
async function whileTimePasses<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => bench.gateway.clock.advance(0.05), 5);
  return work.finally(() => clearInterval(timer));
}

test('a stored transcript is polled for until it is there, and charged once', async () => {
  const answer = await whileTimePasses(hear());
  assert.deepEqual([answer.status, answer.json?.text], [200, 'Hello there. (laughter) Hi'], answer.text);
  assert.deepEqual(
    bench.first.requests.map(({ method }) => method),
    ['POST', 'GET', 'GET', 'GET'],
  );
  assert.deepEqual(await bench.money(), bench.paid(ears));
});

test('a transcript that outlives its process is read by the next one, and the sound never sent again', async () => {
  const lost = hear();
  lost.catch(() => undefined);
  const records = () =>
    rowsOf<{ id: string }>(bench.gateway, 'select id from transcriptions where account_id = $1 and task is not null', [
      bench.caller.accountId,
    ]);
  await until(async () => (await records()).length === 1);
  const [{ id } = assert.fail()] = await records();
  await bench.restart();
  await assert.rejects(lost);
  await until(async () => {
    bench.gateway.clock.advance(5);
    const record = await bench.gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: bench.caller.key });
    return record.json?.status === 'completed';
  });
  assert.equal(bench.first.submissions.length, 1);
  assert.deepEqual(await bench.money(), bench.paid(ears));
});
