import assert from 'node:assert/strict';
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { linkedGateway } from '../../../test/support/client-programs.ts';
import type { Gateway, NewCaller } from '../../../test/support/gateway.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller, spentInTheEnd } from '../../../test/support/paid-calls.ts';
import { workFolder } from '../../../test/support/postgres.ts';
import { JobError, Tollgate, TollgateError } from './index.ts';

let gateway: Gateway;
before(async () => {
  gateway = await linkedGateway();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const IMAGE = { model: 'sandbox/image', prompt: 'a gate', size: '256x256' };
const IMAGE_PRICE = 10;
const CHAT = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] };

/** What happens to a request between the library and the gateway. */
type Network = (send: () => Promise<Response>, nth: number) => Promise<Response>;

const steady: Network = (send) => send();

/** A library at the real gateway, and every request that it has sent. */
function clientOf({ key }: Pick<NewCaller, 'key'>, network = steady) {
  const sent: { line: string; headers: Headers }[] = [];
  const through: typeof fetch = (url, init) => {
    const { pathname } = new URL(url instanceof Request ? url.url : url);
    sent.push({ line: `${init?.method ?? 'GET'} ${pathname}`, headers: new Headers(init?.headers) });
    return network(() => fetch(url, init), sent.length);
  };
  const tollgate = new Tollgate({ baseUrl: `${gateway.url}/v1`, apiKey: () => key, fetch: through });
  return { tollgate, sent, lines: () => sent.map(({ line }) => line) };
}

const failsWith = (code: string, status?: number) => (error: unknown) => {
  assert.ok(error instanceof TollgateError, String(error));
  assert.deepEqual([error.code, error.status], [code, status]);
  return true;
};

/** The gateway does it, and its first answer is lost. */
const losesFirst: Network = async (send, nth) => {
  const response = await send();
  if (nth > 1) return response;
  await response.body?.cancel();
  throw new TypeError('fetch failed');
};

/** A proxy in front answers the first request itself. */
function answersFirst(status: number, headers: Record<string, string>): Network {
  return (send, nth) => (nth > 1 ? send() : Promise.resolve(new Response('busy', { status, headers })));
}

describe('retries', () => {
  test('a job whose answer was lost is asked for again, and made and paid once', async () => {
    const caller = await paidCaller(gateway);
    const { tollgate, sent } = clientOf(caller, losesFirst);
    const { job } = await tollgate.images.generateAndWait(IMAGE);
    const [first, second] = sent.map(({ headers }) => headers.get('idempotency-key'));
    assert.ok(first !== null && first === second);
    const jobs = await Array.fromAsync(tollgate.jobs.list());
    assert.deepEqual(jobs, [job]);
    assert.equal((await moneyOf(gateway, caller)).spent, IMAGE_PRICE);
  });

  test('a chat whose answer was lost is not asked for again, since it may be charged', async () => {
    const { tollgate, lines } = clientOf(await paidCaller(gateway), losesFirst);
    await assert.rejects(tollgate.chat.create(CHAT), failsWith('connection_failed'));
    assert.equal(lines().length, 1);
  });

  test('a chat is sent again where the answer says so', async () => {
    const { tollgate, lines } = clientOf(await paidCaller(gateway), answersFirst(503, { 'x-should-retry': 'true' }));
    assert.equal((await tollgate.chat.create(CHAT)).object, 'chat.completion');
    assert.equal(lines().length, 2);
  });

  test('an account without credits is told so once', async () => {
    const { tollgate, lines } = clientOf(await gateway.newCaller());
    await assert.rejects(tollgate.images.generateAndWait(IMAGE), failsWith('insufficient_credits', 402));
    assert.equal(lines().length, 1);
  });

  test('what another program in front refuses has its status for a code', async () => {
    const { tollgate } = clientOf(await paidCaller(gateway), answersFirst(418, {}));
    await assert.rejects(tollgate.credits(), failsWith('http_418', 418));
  });
});

describe('jobs', () => {
  test('one is made by a call that waits for it, and its link is followed without the credential', async () => {
    const { tollgate, sent } = clientOf(await paidCaller(gateway));
    const { assets } = await tollgate.images.generateAndWait(IMAGE);
    assert.equal(sent[0]?.headers.get('prefer'), 'wait=25');
    const media = await tollgate.download(assets[0]);
    assert.deepEqual([media.type, media.size], ['image/png', assets[0].bytes]);
    assert.equal((await media.bytes()).length, assets[0].bytes);
    assert.equal(sent.at(-1)?.headers.get('authorization'), null);
  });

  test('of many at once, four wait at the gateway and the others are polled: waiting takes slots of the key', async () => {
    const { tollgate, sent } = clientOf(await paidCaller(gateway));
    const request = { ...IMAGE, ...{ sandbox: { fail: 'policy' } } };
    const ended = await Promise.allSettled(Array.from({ length: 6 }, () => tollgate.images.generateAndWait(request)));
    assert.ok(ended.every((end) => end.status === 'rejected' && end.reason instanceof JobError));
    const created = sent.filter(({ line }) => line.startsWith('POST'));
    const waiting = created.filter(({ headers }) => headers.has('prefer'));
    assert.deepEqual([created.length, waiting.length], [6, 4]);
    const one = clientOf(await paidCaller(gateway));
    await assert.rejects(one.tollgate.images.generateAndWait(request), JobError);
    await assert.rejects(one.tollgate.images.generateAndWait(request), JobError);
    assert.equal(one.sent.length, 2);
  });

  test('one that fails says why, names itself, and has cost nothing', async () => {
    const caller = await paidCaller(gateway);
    const { tollgate } = clientOf(caller);
    const request = { ...IMAGE, ...{ sandbox: { fail: 'policy' } } };
    await assert.rejects(tollgate.images.generateAndWait(request), (error) => {
      assert.ok(error instanceof JobError && error instanceof TollgateError);
      assert.deepEqual([error.code, error.job.status], ['content_rejected', 'failed']);
      return true;
    });
    assert.equal((await moneyOf(gateway, caller)).spent, 0);
  });

  test('an aborted wait rejects with the reason, and the job goes on', async () => {
    const { tollgate } = clientOf(await paidCaller(gateway));
    const controller = new AbortController();
    const reason = new Error('the user has left');
    let id = '';
    const waiting = tollgate.images.generateAndWait(IMAGE, {
      signal: controller.signal,
      onProgress: (job) => {
        id = job.id;
        controller.abort(reason);
      },
    });
    await assert.rejects(waiting, reason);
    const seen: string[] = [];
    const { job } = await tollgate.jobs.wait(id, { onProgress: ({ status }) => seen.push(status) });
    assert.deepEqual([job.status, seen.at(-1)], ['succeeded', 'succeeded']);
  });

  test('the same idempotency key finds the job, and is refused for another request', async () => {
    const { tollgate } = clientOf(await paidCaller(gateway));
    const options = { idempotencyKey: 'order 4711' };
    const { id } = await tollgate.images.generate(IMAGE, options);
    assert.equal((await tollgate.images.generate(IMAGE, options)).id, id);
    const other = tollgate.images.generate({ ...IMAGE, prompt: 'a bridge' }, options);
    await assert.rejects(other, failsWith('idempotency_conflict', 409));
    await tollgate.jobs.wait(id);
  });

  test('a list goes on behind its first page', async () => {
    const { tollgate, lines } = clientOf(await paidCaller(gateway));
    const made = await Promise.all([1, 2, 3].map(() => tollgate.images.generate(IMAGE)));
    await Promise.all(made.map(({ id }) => tollgate.jobs.wait(id)));
    const begun = lines().length;
    const ids = (await Array.fromAsync(tollgate.jobs.list({ kind: 'image', limit: 2 }))).map(({ id }) => id);
    assert.deepEqual(ids.toSorted(), made.map(({ id }) => id).toSorted());
    assert.equal(lines().length, begun + 2);
  });
});

describe('streams', () => {
  test('chunks come one by one, and the last has the usage', async () => {
    const caller = await paidCaller(gateway);
    const chunks = await Array.fromAsync(clientOf(caller).tollgate.chat.stream(CHAT));
    assert.ok(chunks.length > 2 && chunks.every(({ object }) => object === 'chat.completion.chunk'));
    assert.equal(chunks.at(-1)?.usage?.credits, await spentInTheEnd(gateway, caller));
  });

  test('a loop that is left ends the request', async () => {
    const caller = await paidCaller(gateway);
    const seen: string[] = [];
    for await (const { id } of clientOf(caller).tollgate.chat.stream(CHAT)) {
      seen.push(id);
      break;
    }
    assert.equal(seen.length, 1);
    await spentInTheEnd(gateway, caller);
  });

  test('one that fails on its way throws the code of its last frame', async () => {
    const { tollgate } = clientOf(await paidCaller(gateway));
    const chunks: unknown[] = [];
    const read = async () => {
      for await (const chunk of tollgate.chat.stream({ ...CHAT, sandbox: { fail: 'down', fail_after_frames: 2 } })) {
        chunks.push(chunk);
      }
    };
    await assert.rejects(read(), failsWith('upstream_failed', 200));
    assert.ok(chunks.length > 0);
  });

  test('one that ends without its end is no whole answer', async () => {
    const cuts: Network = async (send) => new Response((await (await send()).text()).replace('data: [DONE]', ''));
    const { tollgate } = clientOf(await paidCaller(gateway), cuts);
    await assert.rejects(Array.fromAsync(tollgate.chat.stream(CHAT)), failsWith('stream_cut'));
  });

  test('a refusal comes before the first chunk', async () => {
    const { tollgate } = clientOf({ key: 'sk-wrong' });
    await assert.rejects(tollgate.chat.stream(CHAT).next(), failsWith('invalid_api_key', 401));
  });
});

test('a stream is uploaded as it is read, once, whatever its name', async (t) => {
  const bytes = await picture('png', { width: 64, height: 64 });
  const file = join(workFolder(t), 'gate.png');
  writeFileSync(file, bytes);
  const { tollgate } = clientOf(await paidCaller(gateway));
  const filename = 'a "quoted"\r\nname.png';
  const kept = await tollgate.upload(createReadStream(file), { filename, purpose: 'reference' });
  assert.deepEqual([kept.bytes, kept.mime_type, kept.purpose], [bytes.length, 'image/png', 'reference']);
  assert.deepEqual(await (await tollgate.download(kept)).bytes(), new Uint8Array(bytes));
  const refused = clientOf(await paidCaller(gateway), answersFirst(503, { 'x-should-retry': 'true' }));
  await assert.rejects(refused.tollgate.upload(createReadStream(file)), failsWith('http_503', 503));
  assert.equal(refused.lines().length, 1);
  const whole = clientOf(await paidCaller(gateway), losesFirst);
  assert.equal((await whole.tollgate.upload(bytes, { type: 'image/png' })).bytes, bytes.length);
});

test('an error names the field at fault and the request', async () => {
  const { tollgate } = clientOf(await paidCaller(gateway));
  await assert.rejects(tollgate.images.generate({ ...IMAGE, n: 99 }), (error) => {
    assert.ok(error instanceof TollgateError);
    assert.deepEqual([error.code, error.param], ['invalid_n', 'n']);
    assert.match(error.requestId ?? '', /^req_/);
    assert.ok(error.message.endsWith(`(${error.requestId})`));
    return true;
  });
});
