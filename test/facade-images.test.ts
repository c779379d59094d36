import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { pngOf } from './support/asked-forms.ts';
import type { Gateway, NewCaller } from './support/gateway.ts';
import { MediaStudio, openImage } from './support/media-studio.ts';
import { moneyOf, OpenStream, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, imageModel } from './support/studio.ts';

// Pictures by client libraries that are told nothing but an address and a key.

const GENERATE = '/openai/v1/images/generations';
const accepts = { sizes: ['512x512', '768x512'], n_max: 4, slots: ['reference_images', 'mask'] };
const studio = new MediaStudio({
  queue: { readsUntilDone: Number.POSITIVE_INFINITY },
  models: [
    imageModel('sandbox/image', [{ upstream: 'sandbox', model: 'image' }], { accepts }),
    openImage('open/image'),
  ],
});
before(() => studio.start());
after(() => studio.stop());
afterEach(() => studio.gateway.assertBooksBalance());

function clientOf({ key }: NewCaller, options: Partial<ConstructorParameters<typeof OpenAI>[0]> = {}): OpenAI {
  return new OpenAI({ baseURL: `${studio.gateway.url}/openai/v1`, apiKey: key, maxRetries: 0, ...options });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
async function jobsOf({ key }: NewCaller): Promise<any[]> {
  return (await studio.gateway.call('GET', '/v1/jobs', { key })).json.data;
}

/** Width and height as they stand in a PNG. */
function sizeOf(base64 = ''): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  assert.equal(bytes.toString('hex', 0, 8), '89504e470d0a1a0a');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** All events of a stream, which come while time passes. */
function streamed<Event>(stream: Promise<AsyncIterable<Event>>): Promise<Event[]> {
  return studio.whileTimePasses(stream.then((events) => Array.fromAsync(events)));
}

const STAINLESS = { 'x-stainless-lang': 'js', 'x-stainless-retry-count': '0' };
const inQueue = { body: { model: 'studio/queue', prompt: 'a gate' } };

async function open(caller: NewCaller, headers: Record<string, string>, gateway: Gateway = studio.gateway) {
  const known = studio.queue.tasks.length;
  const opening = OpenStream.open(gateway, GENERATE, { ...inQueue, key: caller.key, headers });
  return { opening, task: await studio.nextTask(known) };
}

describe('the library openai makes pictures', () => {
  test('in one call, in base64, of the size that was asked for, and tells what they cost', async () => {
    const caller = await paidCaller(studio.gateway);
    const asked = { model: 'sandbox/image', prompt: 'a gate', size: '768x512', n: 2 } as const;
    const answer = await studio.whileTimePasses(clientOf(caller).images.generate(asked));
    assert.deepEqual(
      answer.data?.map(({ b64_json }) => sizeOf(b64_json)),
      [
        [768, 512],
        [768, 512],
      ],
    );
    assert.deepEqual([answer.size, answer.output_format], ['768x512', 'png']);
    const [job] = await jobsOf(caller);
    assert.deepEqual({ ...answer }, { ...answer, job_id: job.id, created: job.finished_at });
    assert.deepEqual(answer.usage, { ...answer.usage, input_tokens: 0, credits: 2 * IMAGE_PRICE });
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 2 * IMAGE_PRICE);
  });

  test('as links where it asks for them', async () => {
    const caller = await paidCaller(studio.gateway);
    const asked = { model: 'studio/direct', prompt: 'a gate', response_format: 'url' } as const;
    const { data } = await studio.whileTimePasses(clientOf(caller).images.generate(asked));
    const { status, bytes } = await studio.fetched(data?.[0]?.url ?? '');
    assert.deepEqual([status, data?.[0]?.b64_json, sizeOf(bytes.toString('base64')).length], [200, undefined, 2]);
  });

  test('from pictures that it sends along', async () => {
    const caller = await paidCaller(studio.gateway);
    const file = (name: string) => toFile(pngOf(), name, { type: 'image/png' });
    for (const image of [await file('one.png'), [await file('one.png'), await file('two.png')]]) {
      const asked = { model: 'studio/direct', prompt: 'the same, at night', image };
      const { data } = await studio.whileTimePasses(clientOf(caller).images.edit(asked));
      assert.equal(data?.length, 1);
      assert.equal(studio.direct.submissions.at(-1)?.files.length, [image].flat().length);
    }
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 2 * IMAGE_PRICE);
  });

  test('as a stream, with one event for each picture', async () => {
    const caller = await paidCaller(studio.gateway);
    const asked = { model: 'studio/direct', prompt: 'a gate', stream: true } as const;
    const events = await streamed(clientOf(caller).images.generate({ ...asked, n: 2, partial_images: 2 }));
    assert.deepEqual(
      events.map(({ type, b64_json, size }) => [type, sizeOf(b64_json).join('x') === size]),
      [
        ['image_generation.completed', true],
        ['image_generation.completed', true],
      ],
    );
    const image = await toFile(pngOf(), 'one.png', { type: 'image/png' });
    const edits = await streamed(clientOf(caller).images.edit({ ...asked, image }));
    assert.deepEqual(
      edits.map(({ type }) => type),
      ['image_edit.completed'],
    );
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 3 * IMAGE_PRICE);
  });

  test('a stream that fails raises with our code', async () => {
    const caller = await paidCaller(studio.gateway);
    studio.direct.script({ kind: 'error', error: 'policy' });
    const stream = await clientOf(caller).images.generate({ model: 'studio/direct', prompt: 'a gate', stream: true });
    await assert.rejects(Array.fromAsync(stream), (error) => {
      return error instanceof OpenAI.APIError && error.code === 'content_rejected';
    });
  });

  test('words that leave the choice to the model, and fields that are the client’s own, do not reach it', async () => {
    const caller = await paidCaller(studio.gateway);
    const words = { size: 'auto', quality: 'auto', background: 'auto', moderation: 'low', style: 'vivid' } as const;
    await clientOf(caller).images.generate({ model: 'open/image', prompt: 'a gate', user: 'one', ...words });
    assert.deepEqual(studio.open.submissions.at(-1)?.fields, { model: 'painter', prompt: 'a gate', n: 1 });
  });

  test('a field with the name of something that every object has goes to the model like any other', async () => {
    const caller = await paidCaller(studio.gateway);
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const form = new FormData();
      form.set('model', 'studio/direct');
      form.set('prompt', 'a gate');
      form.set('image', new Blob([new Uint8Array(pngOf())], { type: 'image/png' }), 'one.png');
      form.set(name, 'x');
      const authorization = `Bearer ${caller.key}`;
      const url = `${studio.gateway.url}/openai/v1/images/edits`;
      const { status } = await fetch(url, { method: 'POST', headers: { authorization }, body: form });
      assert.equal(status, 400, name);
    }
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  });

  test('a size that the model does not make is refused with those that it does, and nothing is made', async () => {
    const caller = await paidCaller(studio.gateway);
    const asked = { model: 'sandbox/image', prompt: 'a gate', size: '1024x1024' } as const;
    await assert.rejects(clientOf(caller).images.generate(asked), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.match(error.message, /512x512, 768x512/);
      return error.code === 'unsupported_parameter' && error.param === 'size';
    });
    assert.deepEqual(await jobsOf(caller), []);
  });

  test('errors have the classes of the library', async () => {
    const caller = await paidCaller(studio.gateway, 1);
    const asked = { model: 'sandbox/image', prompt: 'a gate' };
    await assert.rejects(clientOf(caller).images.generate(asked), /402 .*credits/);
    const refusal = (model: string, key: string) =>
      clientOf({ ...caller, key })
        .images.generate({ ...asked, model })
        .catch((error: unknown) => error);
    assert.ok((await refusal('no/such', caller.key)) instanceof OpenAI.NotFoundError);
    assert.ok((await refusal('sandbox/image', 'sk-wrong')) instanceof OpenAI.AuthenticationError);
    const variation = clientOf(caller).images.createVariation({ image: await toFile(pngOf(), 'one.png') });
    await assert.rejects(variation, OpenAI.NotFoundError);
    await assert.rejects(clientOf(caller).moderations.create({ input: 'words' }), OpenAI.NotFoundError);
  });

  test('the library ai makes them too', async () => {
    const caller = await paidCaller(studio.gateway);
    const openai = createOpenAI({ baseURL: `${studio.gateway.url}/openai/v1`, apiKey: caller.key });
    const asked = { model: openai.image('studio/direct'), prompt: 'a gate', n: 2 };
    const { images } = await studio.whileTimePasses(generateImage(asked));
    assert.deepEqual(
      images.map(({ base64 }) => sizeOf(base64).length),
      [2, 2],
    );
  });
});

describe('a call that is repeated', () => {
  /** Breaks the connection of the first attempt once the upstream has its task. */
  function breakingFetch(known: number): typeof fetch {
    let attempts = 0;
    return async (url, init) => {
      if (++attempts > 1) return fetch(url, init);
      const leaving = new AbortController();
      const answer = fetch(url, { ...init, signal: leaving.signal });
      answer.catch(() => undefined);
      await studio.nextTask(known);
      leaving.abort();
      throw new TypeError('fetch failed');
    };
  }

  test('by the library after a broken connection joins the job of its first attempt: one job, one charge', async () => {
    const caller = await paidCaller(studio.gateway);
    const known = studio.queue.tasks.length;
    const client = clientOf(caller, { maxRetries: 2, fetch: breakingFetch(known) });
    const answer = client.images.generate({ model: 'studio/queue', prompt: 'a gate' });
    (await studio.nextTask(known)).advance('COMPLETED');
    assert.equal((await studio.whileTimePasses(answer)).data?.length, 1);
    assert.deepEqual([(await jobsOf(caller)).length, studio.queue.tasks.length - known], [1, 1]);
    assert.equal((await moneyOf(studio.gateway, caller)).spent, IMAGE_PRICE);
  });

  test('joins for fifteen minutes, the same request of the same key alone, and never as a first attempt', async () => {
    const caller = await paidCaller(studio.gateway);
    const made = async (retries: string, prompt = 'a gate', key = caller.key) => {
      const headers = { ...STAINLESS, 'x-stainless-retry-count': retries };
      const body = { model: 'studio/direct', prompt };
      const answer = await studio.gateway.call('POST', GENERATE, { body, key, headers });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers['x-job-id'], answer.json.job_id);
      return answer.json.job_id;
    };
    const first = await made('0');
    const second = await made('0');
    assert.notEqual(second, first);
    assert.equal(await made('1'), second);
    assert.equal(await made('2'), second);
    assert.notEqual(await made('1', 'another gate'), second);
    assert.notEqual(await made('1', 'a gate', (await paidCaller(studio.gateway)).key), second);
    studio.gateway.clock.advance(15 * 60 - 1);
    assert.equal(await made('1'), second);
    studio.gateway.clock.advance(1);
    const third = await made('1');
    assert.notEqual(third, second);
    assert.equal(await made('2'), third);
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 4 * IMAGE_PRICE);
  });

  test('first attempts of one request at the same time are as many jobs', async () => {
    const caller = await paidCaller(studio.gateway);
    const client = clientOf(caller);
    const asked = { model: 'studio/direct', prompt: 'a gate' };
    await Promise.all(Array.from({ length: 5 }, () => client.images.generate(asked)));
    assert.equal((await jobsOf(caller)).length, 5);
  });

  test('with an Idempotency-Key it is the job of that key, with or without a count', async () => {
    const caller = await paidCaller(studio.gateway);
    const ids = [];
    for (const count of [{}, STAINLESS, STAINLESS]) {
      const headers = { ...count, 'idempotency-key': 'mine' };
      const body = { model: 'studio/direct', prompt: 'a gate' };
      ids.push((await studio.gateway.call('POST', GENERATE, { body, key: caller.key, headers })).json.job_id);
    }
    assert.equal(new Set(ids).size, 1);
  });
});

describe('a caller who waits', () => {
  test('and leaves loses nothing: the job ends, is charged and is found', async () => {
    const caller = await paidCaller(studio.gateway);
    const known = studio.queue.tasks.length;
    const leaving = new AbortController();
    const asked = { model: 'studio/queue', prompt: 'a gate' };
    const left = clientOf(caller).images.generate(asked, { signal: leaving.signal });
    const task = await studio.nextTask(known);
    leaving.abort();
    await assert.rejects(left, OpenAI.APIUserAbortError);
    task.advance('COMPLETED');
    const [job] = await jobsOf(caller);
    assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
    assert.equal((await moneyOf(studio.gateway, caller)).spent, IMAGE_PRICE);
  });

  test('is kept alive by white space after half a minute, and every library reads what follows it', async () => {
    const caller = await paidCaller(studio.gateway);
    const known = studio.queue.tasks.length;
    const answer = clientOf(caller).images.generate({ model: 'studio/queue', prompt: 'a gate' });
    const { opening } = await open(caller, {});
    await until(() => studio.queue.tasks.length === known + 2);
    studio.gateway.clock.advance(30);
    await using stream = await opening;
    assert.deepEqual([stream.status, stream.headers['content-type']], [200, 'application/json; charset=utf-8']);
    await stream.until(' ');
    for (const each of studio.queue.tasks.slice(known)) each.advance('COMPLETED');
    const { text, isCut } = await studio.whileTimePasses(stream.rest());
    assert.ok(!isCut && text.startsWith(' ') && JSON.parse(text).data.length === 1);
    assert.equal((await studio.whileTimePasses(answer)).data?.length, 1);
  });

  test('is told of a failure in the first half minute by its status, and tries nothing again', async () => {
    const caller = await paidCaller(studio.gateway);
    const known = studio.direct.requests.length;
    studio.direct.script({ kind: 'error', error: 'policy' });
    const client = clientOf(caller, { maxRetries: 2 });
    const refused = client.images.generate({ model: 'studio/direct', prompt: 'a gate' });
    await assert.rejects(
      refused,
      (error) => error instanceof OpenAI.BadRequestError && error.code === 'content_rejected',
    );
    assert.equal(studio.direct.requests.length, known + 1);
    for (const [headers, status] of [
      [STAINLESS, 502],
      [{}, 400],
    ] as const) {
      studio.queue.outcome({ kind: 'failure', error: 'unscheduled' });
      const { opening, task } = await open(caller, headers);
      task.advance('COMPLETED');
      await using stream = await studio.whileTimePasses(opening);
      const { text } = await stream.rest();
      assert.deepEqual([stream.status, JSON.parse(text).error.code], [status, 'upstream_failed']);
      assert.equal(stream.headers['x-should-retry'], 'false');
    }
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  });

  test('is told of a later one by a broken connection, or by a body where that would make another job', async () => {
    const caller = await paidCaller(studio.gateway);
    for (const [headers, isBroken] of [
      [STAINLESS, true],
      [{}, false],
    ] as const) {
      studio.queue.outcome({ kind: 'failure', error: 'unscheduled' });
      const { opening, task } = await open(caller, headers);
      studio.gateway.clock.advance(30);
      await using stream = await opening;
      await stream.until(' ');
      task.advance('COMPLETED');
      const { text, isCut } = await studio.whileTimePasses(stream.rest());
      assert.equal(isCut, isBroken);
      if (!isBroken) assert.equal(JSON.parse(text).error.code, 'upstream_failed');
    }
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  });

  test('is told after the longest wait that the job goes on, and where it is', async () => {
    const { database, clock } = studio.gateway;
    const settings = { TOLLGATE_IMAGE_WAIT_SECONDS: '20' };
    const brief = await studio.another({ database, clock, settings });
    try {
      const caller = await paidCaller(studio.gateway);
      for (const [headers, status] of [
        [STAINLESS, 504],
        [{}, 400],
      ] as const) {
        const { opening, task } = await open(caller, headers, brief);
        await using stream = await studio.whileTimePasses(opening);
        const { error } = JSON.parse((await stream.rest()).text);
        const [job] = await jobsOf(caller);
        assert.deepEqual([stream.status, error.code, stream.headers['x-job-id']], [status, 'job_timeout', job.id]);
        assert.ok(error.message.includes(job.id) && stream.headers['x-should-retry'] === 'false');
        task.advance('COMPLETED');
        assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
      }
      const { opening, task } = await open(caller, STAINLESS);
      studio.gateway.clock.advance(30);
      await using stream = await opening;
      await stream.until(' ');
      studio.gateway.clock.advance(250);
      assert.ok((await stream.rest()).isCut);
      task.advance('COMPLETED');
      assert.equal((await studio.ended(caller, (await jobsOf(caller))[0].id)).status, 'succeeded');
    } finally {
      await brief.stop();
    }
  });
});
