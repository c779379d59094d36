import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { pino } from 'pino';
import { request } from 'undici';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../src/limits.ts';
import { json } from '../src/vendors/emulator/json.ts';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { vendors } from '../src/vendors/index.ts';
import { AcmeEmulator } from './support/acme/emulator.ts';
import { acme } from './support/acme/index.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { rowsOf } from './support/keeping.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from './support/studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const KEY = 'key-of-the-operator';
const PAID = { available: 1000 - IMAGE_PRICE, reserved: 0, spent: IMAGE_PRICE };
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const CONTENT = /\/content$/;

// The vendor of docs/adding-a-vendor.md in the whole program: what the interface offers that no other vendor needs yet.
let gateway: Gateway;
let first: AcmeEmulator;
let second: AcmeEmulator;
let caller: NewCaller;
const lines: string[] = [];
before(async () => {
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  gateway = await Gateway.start({ vendors: [...vendors, acme], log });
});
after(() => gateway.stop());

beforeEach(async () => {
  lines.length = 0;
  [first, second] = [new AcmeEmulator(KEY, smallPng()), new AcmeEmulator(KEY, smallPng())];
  await Promise.all([first.start(), second.start()]);
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `acme-${at}`, vendor: 'acme', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds: 60 };
  });
  const routes = upstreams.map(({ id }) => ({ upstream: id, model: 'sketch' }));
  await gateway.putConfig({ upstreams, models: [imageModel('studio/sketch', routes)] });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

/** A picture that is as large as this and shows no more. */
function withLargeChunk(png: Buffer, bytes: number): Buffer {
  const data = Buffer.concat([Buffer.from('fiLl'), Buffer.alloc(bytes)]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(bytes);
  checksum.writeUInt32BE(crc32(data));
  const end = png.length - 12;
  return Buffer.concat([png.subarray(0, end), length, data, checksum, png.subarray(end)]);
}

async function create(): Promise<string> {
  const body = { model: 'studio/sketch', prompt: 'a gate' };
  const answer = await gateway.call('POST', IMAGES, { key: caller.key, body });
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

/** The bytes of the one result, by its link. */
async function delivered(id: string): Promise<Buffer> {
  const assets = await gateway.call('GET', `/v1/jobs/${id}/assets`, { key: caller.key });
  const { pathname, search } = new URL(assets.json.items[0].url);
  const { body } = await request(gateway.url + pathname + search);
  return Buffer.from(await body.arrayBuffer());
}

describe('a result behind the upstream’s credential', () => {
  test('is fetched with the key and delivered as it came', async () => {
    const job = await ended(await create());
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    const [download] = first.sent('GET', CONTENT);
    assert.equal(download?.headers.authorization, `Bearer ${KEY}`);
    assert.equal(first.sent('GET', CONTENT).length, 1);
    assert.deepEqual(await delivered(job.id), first.picture);
    assert.deepEqual(await moneyOf(gateway, caller), PAID);
  });

  test('is streamed: it may be larger than any answer that is held', async () => {
    first.picture = withLargeChunk(smallPng(), UPSTREAM_RESPONSE_BYTES_MAX);
    const job = await ended(await create());
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    assert.ok((await delivered(job.id)).equals(first.picture));
  });

  for (const fault of ['reset', 'reset in the answer'] as const) {
    test(`is fetched again after a ${fault}, and made only once`, async () => {
      first.readsUntilDone = 0;
      first.script({ kind: 'answer' }, { kind: 'answer' }, { kind: 'fault', fault });
      const job = await ended(await create());
      assert.equal(job.status, 'succeeded', JSON.stringify(job));
      assert.equal(first.sent('GET', CONTENT).length, 2);
      assert.equal(first.sent('POST', /./).length + second.sent('POST', /./).length, 1);
      assert.deepEqual(await moneyOf(gateway, caller), PAID);
    });
  }

  test('is undeliverable and free of charge when the upstream never gives it', async () => {
    first.readsUntilDone = 0;
    const gone = { kind: 'instead', ...json(404, { error: { code: 'gone' } }) } as const;
    first.script({ kind: 'answer' }, { kind: 'answer' }, ...Array.from({ length: 200 }, () => gone));
    const job = await ended(await create());
    assert.deepEqual([job.status, job.error_code], ['failed', 'undeliverable_output'], JSON.stringify(job));
    assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
  });
});

test('an upstream that says when to ask again is not asked before', async () => {
  const id = await create();
  await until(async () => {
    gateway.clock.advance(0.1);
    return first.sent('GET', /p-1$/).length === 1 && (await read(id)).progress === 40;
  });
  const [job] = await rowsOf<{ due_at: Date }>(gateway, 'select due_at from open_jobs');
  const dueInMs = (job?.due_at.getTime() ?? 0) - gateway.clock.nowMs();
  assert.ok(dueInMs > 19_000 && dueInMs <= 20_000, String(dueInMs));
  assert.equal((await ended(id)).status, 'succeeded');
});

test('what is unfit for one upstream is made by the next, and is no strike', async () => {
  first.script({ kind: 'instead', ...json(422, { error: { code: 'prompt_too_long' } }) });
  assert.equal((await ended(await create())).status, 'succeeded');
  assert.deepEqual([first.sent('POST', /./).length, second.sent('POST', /./).length], [1, 1]);
  const { whole, model } = await upstreamHealth(gateway, 'acme-0');
  assert.deepEqual([whole.strikes, model.strikes], [0, 0]);
});

test('the usage that an upstream tells is in the log, and the caller pays what was quoted', async () => {
  await ended(await create());
  const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'usage of a job');
  assert.deepEqual([line?.upstream, line?.usage], ['acme-0', { credits: 7 }]);
  assert.deepEqual(await moneyOf(gateway, caller), PAID);
});
