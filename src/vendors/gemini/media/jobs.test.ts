import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fields } from '../../../../test/support/documents.ts';
import { type BenchKind, openBench, UNTOUCHED } from '../../../../test/support/job-bench.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from '../../../../test/support/media-models.ts';
import { clip as encodeClip, picture, toneAs } from '../../../../test/support/media-samples.ts';
import { until } from '../../../../test/support/postgres.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../../test/support/studio.ts';
import { upstreamHealth } from '../../../../test/support/upstream-health.ts';
import { GeminiEmulator, type Script } from '../emulator.ts';

const KEY = 'key-of-the-operator';

interface Kind extends BenchKind {
  readonly result: Buffer;
  /** Something that the model cannot take. */
  readonly unsupported: Fields;
  /** Whether the vendor gives an id at once, by which the result can be had later. */
  readonly isTask?: boolean;
}

const jpeg = await picture('jpeg', { width: 64, height: 64 });
const clip = await encodeClip({ seconds: 3, framesPerSecond: 4 });
const song = await toneAs('mp3', { seconds: 1, sampleRate: 44_100 });

const KINDS: readonly Kind[] = [
  {
    model: 'studio/picture',
    path: IMAGES,
    upstreamModel: 'gemini-3.1-flash-image',
    body: { prompt: 'a gate', resolution: '1k' },
    price: IMAGE_PRICE,
    written: imageModel,
    result: jpeg,
    unsupported: { negative_prompt: 'fog' },
  },
  {
    model: 'studio/clip',
    path: VIDEOS,
    upstreamModel: 'gemini-omni-1.1-flash',
    body: { prompt: 'waves', seconds: 3 },
    price: 3 * SECOND_PRICE,
    written: videoModel,
    result: clip,
    unsupported: { negative_prompt: 'fog' },
    isTask: true,
  },
  {
    model: 'studio/song',
    path: MUSIC,
    upstreamModel: 'lyria-3.5',
    body: { prompt: 'a march' },
    price: CLIP_PRICE,
    written: musicModel,
    result: song,
    unsupported: { seed: 7 },
  },
];

// The vendor in the whole program: each kind of job, and every way in which it can end.
const samples = { picture: jpeg, pictureType: 'image/jpeg', clip, song };
const bench = openBench({
  vendor: 'gemini',
  kinds: KINDS,
  emulator: () => new GeminiEmulator({ apiKey: KEY, samples }),
  upstream: { api_key: KEY },
});

for (const kind of KINDS) {
  describe(kind.model, () => {
    test('is delivered as the vendor made it, and paid; neither key nor vendor is in what the caller reads', async () => {
      const job = await bench.made(kind);
      assert.deepEqual(await bench.delivered(job.id), [kind.result]);
      assert.deepEqual(await bench.money(), bench.paid(kind));
      assert.doesNotMatch(JSON.stringify(job), /gemini|google|lyria|upstream-marker/i);
      assert.ok(!bench.lines.join('').includes(KEY));
      assert.deepEqual(bench.usages, [['gemini-0', { inputTokens: 7, outputTokens: 3 }]]);
    });

    test('is refused with a field that no model takes, before anything is held', async () => {
      const answer = await bench.ask(kind, kind.unsupported);
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual(bench.submitted(), [0, 0]);
      assert.deepEqual(await bench.money(), UNTOUCHED);
    });

    for (const [fault, code, script] of [
      ['a client’s fault', 'upstream_rejected', { kind: 'error', error: 'invalid' }],
      ['policy', 'content_rejected', { kind: 'policy' }],
    ] as const) {
      test(`that is refused for ${fault} costs nothing and goes nowhere else`, async () => {
        bench.first.script(script);
        await bench.assertFailed(await bench.create(kind), code);
      });
    }

    for (const error of ['rate', 'unavailable', 'bad key', 'not found'] as const) {
      test(`that meets "${error}" is made by another upstream`, async () => {
        bench.first.script({ kind: 'error', error });
        await bench.made(kind);
        assert.deepEqual(bench.submitted(), [1, 1]);
        assert.deepEqual(await bench.money(), bench.paid(kind));
      });
    }

    test('that meets an account out of money is made by another, and the account rests', async () => {
      bench.first.isBroke = true;
      for (const _ of [1, 2]) await bench.made(kind);
      assert.deepEqual(bench.submitted(), [1, 2]);
      const { whole } = await upstreamHealth(bench.gateway, 'gemini-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
      assert.deepEqual(await bench.money(), bench.paid(kind, 2));
    });

    const LOST: readonly Script[] = [
      { kind: 'fault', fault: 'reset' },
      { kind: 'fault', fault: 'reset in the body' },
      { kind: 'fault', fault: 'wrong content type' },
      { kind: 'raw', body: '{}' },
    ];
    for (const script of LOST) {
      test(`whose answer is lost (${JSON.stringify(script)}) is not asked for twice, and costs nothing`, async () => {
        bench.first.script(script);
        await bench.assertFailed(await bench.create(kind), 'upstream_failed');
      });
    }

    test('whose upstream is silent is given up in time, and costs nothing', async () => {
      await bench.configure({ timeout_seconds: 1 });
      bench.first.script({ kind: 'fault', fault: 'silence' });
      await bench.assertFailed(await bench.create(kind), 'upstream_timeout');
    });

    if (kind.isTask === true) {
      test('whose process ends while it is made is had by the next process, and made only once', async () => {
        bench.first.interactions.readsUntilDone = 3;
        const id = await bench.create(kind);
        await until(async () => (await bench.read(id)).status === 'running');
        await bench.restart();
        assert.equal((await bench.ended(id)).status, 'succeeded');
        assert.deepEqual(bench.submitted(), [1, 0]);
        assert.deepEqual(await bench.delivered(id), [kind.result]);
        assert.deepEqual(await bench.money(), bench.paid(kind));
      });
      return;
    }

    test('whose process ends before the upstream has answered is not asked for again, and costs nothing', async () => {
      bench.first.script({ kind: 'fault', fault: 'silence' });
      const id = await bench.create(kind);
      await until(() => bench.first.requests.length === 1);
      await bench.restart();
      await bench.assertFailed(id, 'upstream_failed');
    });
  });
}
