import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { createDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import type { Fields } from '../../../../test/support/documents.ts';
import { Gateway, type NewCaller } from '../../../../test/support/gateway.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from '../../../../test/support/media-models.ts';
import { clip as encodeClip, picture, toneAs } from '../../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../../test/support/paid-calls.ts';
import { until } from '../../../../test/support/postgres.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../../test/support/studio.ts';
import { upstreamHealth } from '../../../../test/support/upstream-health.ts';
import { GeminiEmulator, type Script } from '../emulator.ts';

const KEY = 'key-of-the-operator';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };

/** A kind of job, as it is asked for and paid. */
interface Kind {
  readonly name: string;
  readonly path: string;
  readonly upstreamModel: string;
  readonly body: Fields;
  readonly price: number;
  readonly model: (id: string, routes: readonly Fields[]) => Fields;
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
    name: 'a picture',
    path: IMAGES,
    upstreamModel: 'gemini-3.1-flash-image',
    body: { prompt: 'a gate', resolution: '1k' },
    price: IMAGE_PRICE,
    model: imageModel,
    result: jpeg,
    unsupported: { negative_prompt: 'fog' },
  },
  {
    name: 'a clip',
    path: VIDEOS,
    upstreamModel: 'gemini-omni-1.1-flash',
    body: { prompt: 'waves', seconds: 3 },
    price: 3 * SECOND_PRICE,
    model: videoModel,
    result: clip,
    unsupported: { negative_prompt: 'fog' },
    isTask: true,
  },
  {
    name: 'a song',
    path: MUSIC,
    upstreamModel: 'lyria-3.5',
    body: { prompt: 'a march' },
    price: CLIP_PRICE,
    model: musicModel,
    result: song,
    unsupported: { seed: 7 },
  },
];

// The vendor in the whole program: each kind of job, and every way in which it can end.
let database: TestDatabase;
let gateway: Gateway;
let first: GeminiEmulator;
let second: GeminiEmulator;
let caller: NewCaller;
const lines: string[] = [];

function start(): Promise<Gateway> {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  return Gateway.start({ database, log });
}

before(async () => {
  database = await createDatabase();
  gateway = await start();
});
after(async () => {
  await gateway.stop();
  await database.drop();
});

beforeEach(async () => {
  lines.length = 0;
  const samples = { picture: jpeg, pictureType: 'image/jpeg', clip, song };
  [first, second] = [new GeminiEmulator({ apiKey: KEY, samples }), new GeminiEmulator({ apiKey: KEY, samples })];
  await Promise.all([first.start(), second.start()]);
  await configure(60);
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

function configure(timeout_seconds: number): Promise<unknown> {
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `gemini-${at}`, vendor: 'gemini', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds };
  });
  const models = KINDS.map(({ name, model, upstreamModel }) =>
    model(
      idOf(name),
      upstreams.map(({ id }) => ({ upstream: id, model: upstreamModel })),
    ),
  );
  return gateway.putConfig({ upstreams, models });
}

function idOf(name: string): string {
  return `studio/${name.replaceAll(' ', '-')}`;
}

function paid({ price }: Kind, times = 1) {
  return { available: 1000 - times * price, reserved: 0, spent: times * price };
}

function ask({ name, path, body }: Kind, fields: Fields = {}) {
  return gateway.call('POST', path, { key: caller.key, body: { model: idOf(name), ...body, ...fields } });
}

async function create(kind: Kind, fields: Fields = {}): Promise<string> {
  const answer = await ask(kind, fields);
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

const asked = () => [first.sent('POST').length, second.sent('POST').length];

for (const kind of KINDS) {
  describe(kind.name, () => {
    test('is delivered as the vendor made it, and paid; neither key nor vendor is in what the caller reads', async () => {
      const job = await ended(await create(kind));
      assert.equal(job.status, 'succeeded', JSON.stringify(job));
      assert.deepEqual(await delivered(job.id), [kind.result]);
      assert.deepEqual(await moneyOf(gateway, caller), paid(kind));
      assert.doesNotMatch(JSON.stringify(job), /gemini|google|lyria|upstream-marker/i);
      assert.ok(!lines.join('').includes(KEY));
      const usages = lines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'usage of a job');
      assert.deepEqual(
        usages.map(({ upstream, usage }) => [upstream, usage]),
        [['gemini-0', { inputTokens: 7, outputTokens: 3 }]],
      );
    });

    test('is refused with a field that no model takes, before anything is held', async () => {
      const answer = await ask(kind, kind.unsupported);
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual(asked(), [0, 0]);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });

    for (const [fault, code, script] of [
      ['a client’s fault', 'upstream_rejected', { kind: 'error', error: 'invalid' }],
      ['policy', 'content_rejected', { kind: 'policy' }],
    ] as const) {
      test(`that is refused for ${fault} costs nothing and goes nowhere else`, async () => {
        first.script(script);
        const job = await ended(await create(kind));
        assert.deepEqual([job.status, job.error_code], ['failed', code], JSON.stringify(job));
        assert.deepEqual(asked(), [1, 0]);
        assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
      });
    }

    for (const error of ['rate', 'unavailable', 'bad key', 'not found'] as const) {
      test(`that meets "${error}" is made by another upstream`, async () => {
        first.script({ kind: 'error', error });
        const job = await ended(await create(kind));
        assert.equal(job.status, 'succeeded', JSON.stringify(job));
        assert.deepEqual(asked(), [1, 1]);
        assert.deepEqual(await moneyOf(gateway, caller), paid(kind));
      });
    }

    test('that meets an account out of money is made by another, and the account rests', async () => {
      first.isBroke = true;
      for (const _ of [1, 2]) assert.equal((await ended(await create(kind))).status, 'succeeded');
      assert.deepEqual(asked(), [1, 2]);
      const { whole } = await upstreamHealth(gateway, 'gemini-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
      assert.deepEqual(await moneyOf(gateway, caller), paid(kind, 2));
    });

    const LOST: readonly Script[] = [
      { kind: 'fault', fault: 'reset' },
      { kind: 'fault', fault: 'reset in the body' },
      { kind: 'fault', fault: 'wrong content type' },
      { kind: 'raw', body: '{}' },
    ];
    for (const script of LOST) {
      test(`whose answer is lost (${JSON.stringify(script)}) is not asked for twice, and costs nothing`, async () => {
        first.script(script);
        const job = await ended(await create(kind));
        assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
        assert.deepEqual(asked(), [1, 0]);
        assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
      });
    }

    test('whose upstream is silent is given up in time, and costs nothing', async () => {
      await configure(1);
      first.script({ kind: 'fault', fault: 'silence' });
      const job = await ended(await create(kind));
      assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_timeout'], JSON.stringify(job));
      assert.deepEqual(asked(), [1, 0]);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });

    if (kind.isTask === true) {
      test('whose process ends while it is made is had by the next process, and made only once', async () => {
        first.interactions.readsUntilDone = 3;
        const id = await create(kind);
        await until(async () => (await read(id)).status === 'running');
        await gateway.stop();
        gateway = await start();
        assert.equal((await ended(id)).status, 'succeeded');
        assert.deepEqual(asked(), [1, 0]);
        assert.deepEqual(await delivered(id), [kind.result]);
        assert.deepEqual(await moneyOf(gateway, caller), paid(kind));
      });
      return;
    }

    test('whose process ends before the upstream has answered is not asked for again, and costs nothing', async () => {
      first.script({ kind: 'fault', fault: 'silence' });
      const id = await create(kind);
      await until(() => first.requests.length === 1);
      await gateway.stop();
      gateway = await start();
      const job = await ended(id);
      assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
      assert.deepEqual(asked(), [1, 0]);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });
  });
}
