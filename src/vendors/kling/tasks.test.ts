import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainVideo } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import { json } from '../emulator/json.ts';
import type { Upstream } from '../index.ts';
import { draw, isFault, KEY, ORDER, poll, submit, video, withEmulator } from './emulator/calls.ts';

const FLOWS = [
  ['kling-v2-6', '/v1/videos/text2video'],
  ['kling-3.0-turbo', '/tasks'],
] as const;

for (const [model, path] of FLOWS) {
  describe(model, () => {
    test('a task waits, runs and ends with its clip and what it took', () =>
      withEmulator(model, async (emulator, upstream) => {
        emulator.readsUntilDone = 2;
        const task = await submit(upstream);
        assert.deepEqual(task, { id: '8000', path });
        for (const _ of [1, 2]) assert.deepEqual(await poll(task, upstream), { state: 'running' });
        const outputs = [{ url: `${emulator.origin}/files/clip?token=s` }];
        const usage = { credits: 2.5, seconds: 5.1 };
        assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage });
      }));

    test('a clip with a mark is the one at the link of its own, where there is one', () =>
      withEmulator(model, async (emulator, upstream) => {
        emulator.readsUntilDone = 0;
        const task = await submit(upstream, { watermark: true });
        assert.deepEqual(task, { id: '8000', path, isMarked: true });
        const progress = await poll(task, upstream);
        assert.ok(progress?.state === 'succeeded');
        assert.deepEqual(progress.outputs, [{ url: `${emulator.origin}/files/marked?token=s` }]);
        const plain = { id: '8000', url: 'https://files.example/a', task_status: 'succeed', status: 'succeeded' };
        const data = { ...plain, task_result: { videos: [plain] }, outputs: [plain] };
        emulator.script({ kind: 'instead', ...json(200, { code: 0, data: model === 'kling-v2-6' ? data : [data] }) });
        const again = await poll(task, upstream);
        assert.ok(again?.state === 'succeeded');
        assert.deepEqual(again.outputs, [{ url: 'https://files.example/a' }]);
      }));

    for (const [words, code] of [
      ['Failure to pass the risk control system', 'content_rejected'],
      ['The picture may violate the rules', 'content_rejected'],
      ['The worker is gone', 'upstream_failed'],
      ['', 'upstream_failed'],
    ] as const) {
      test(`one that ends with ${JSON.stringify(words)} is ${code}`, () =>
        withEmulator(model, async (emulator, upstream) => {
          emulator.readsUntilDone = 0;
          emulator.endings.push({ words });
          const progress = await poll(await submit(upstream), upstream);
          assert.deepEqual(progress, { state: 'failed', code, detail: words });
        }));
    }

    for (const fault of ['reset', 'reset in the answer', 'garbage'] as const) {
      test(`a submission whose answer was lost (${fault}) is uncertain, and found by its name`, () =>
        withEmulator(model, async (emulator, upstream) => {
          emulator.script({ kind: 'fault', fault });
          await assert.rejects(submit(upstream), isFault('connection', { isUncertain: true }));
          assert.deepEqual(await adopt(upstream), { state: 'accepted', task: { id: '8000', path } });
          assert.equal(await adopt(upstream, 'job_2-0'), undefined);
        }));
    }

    test('a list that is none says nothing of a lost submission', () =>
      withEmulator(model, async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...json(200, { code: 0 }) });
        await assert.rejects(adopt(upstream), isFault('garbled'));
      }));

    test('what is told of a task in another way is garbled', () =>
      withEmulator(model, async (emulator, upstream) => {
        const task = await submit(upstream);
        const strange = { id: '8000', task_status: 'dreaming', status: 'dreaming' };
        const empty = { id: '8000', task_status: 'succeed', status: 'succeeded', task_result: {}, outputs: [] };
        for (const data of [strange, empty, {}]) {
          const body = { code: 0, data: model === 'kling-v2-6' ? data : [data] };
          emulator.script({ kind: 'instead', ...json(200, body) });
          await assert.rejects(poll(task, upstream), isFault('garbled'), JSON.stringify(data));
        }
      }));
  });
}

async function adopt(upstream: Upstream, id = ORDER.id) {
  return video.adopt?.(plainVideo({ prompt: 'Waves' }), { ...ORDER, id }, upstream);
}

describe('the list of tasks', () => {
  const path = '/v1/videos/text2video';
  const others = (count: number, name = 'x') =>
    Array.from({ length: count }, (_, at) => {
      return { id: `x-${at}`, path, name, count: 1, isMarked: false, ending: 'well', reads: 9 } as const;
    });

  test('is read where such a task is submitted, page by page', () =>
    withEmulator('kling-v2-6', async (emulator, upstream) => {
      await submit(upstream);
      emulator.tasks.unshift(...others(100));
      assert.deepEqual(await adopt(upstream), { state: 'accepted', task: { id: '8000', path } });
      const pages = emulator.sent('GET').map((request) => request.path);
      assert.deepEqual(pages, [`${path}?pageNum=1&pageSize=100`, `${path}?pageNum=2&pageSize=100`]);
    }));

  test('proves nothing where it shows no names', () =>
    withEmulator('kling-v2-6', async (emulator, upstream) => {
      const data = [{ task_id: '1', task_status: 'submitted' }];
      emulator.script({ kind: 'instead', ...json(200, { code: 0, data }) });
      await assert.rejects(adopt(upstream), isFault('server'));
    }));

  test('proves nothing where it is longer than what is read of it', () =>
    withEmulator('kling-v2-6', async (emulator, upstream) => {
      emulator.tasks.push(...others(1000));
      await assert.rejects(adopt(upstream), isFault('server'));
      assert.equal(emulator.sent('GET').length, 10);
    }));
});

test('a task that the vendor does not know any more has failed', () =>
  withEmulator('kling-v2-6', async (_emulator, upstream) => {
    const progress = await poll({ id: '1', path: '/v1/videos/image2video' }, upstream);
    assert.ok(progress?.state === 'failed');
    assert.equal(progress.code, 'upstream_failed');
  }));

test('several pictures come from one task, in their order', () =>
  withEmulator('kling-v2', async (emulator, upstream) => {
    emulator.readsUntilDone = 0;
    const task = await draw(upstream, { n: 2 });
    const images = [1, 0].map((index) => ({ index, url: `https://files.example/${index}` }));
    const data = { task_status: 'succeed', task_result: { images }, final_unit_deduction: 4 };
    emulator.script({ kind: 'instead', ...json(200, { code: 0, data }) });
    const outputs = [{ url: 'https://files.example/0' }, { url: 'https://files.example/1' }];
    const usage = { credits: 4, seconds: undefined };
    assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage });
  }));

describe('a refusal is known by its code', () => {
  const REFUSALS: readonly (readonly [status: number, code: number, fault: Fault])[] = [
    ...[1000, 1001, 1002, 1003, 1004].map((code) => [401, code, 'account'] as const),
    ...[1100, 1101, 1102, 1304].map((code) => [429, code, 'account'] as const),
    [403, 1103, 'account'],
    [200, 1102, 'account'],
    [400, 1201, 'client'],
    [200, 1201, 'client'],
    [404, 1203, 'config'],
    [400, 1300, 'policy'],
    [200, 1301, 'policy'],
    [429, 1302, 'rate'],
    [429, 1303, 'rate'],
    [200, 1303, 'rate'],
    [500, 5000, 'server'],
    [504, 5002, 'server'],
    [200, 9999, 'server'],
    [429, 9999, 'rate'],
  ];
  for (const [status, code, fault] of REFUSALS) {
    test(`${code} with ${status} is ${fault}, and certain`, () =>
      withEmulator('kling-v2-6', async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...json(status, { code, message: 'marker', request_id: 'r' }) });
        await assert.rejects(submit(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('what the vendor refuses by itself: a key, a model, a field, packs that are used up, a full queue, words', () =>
    withEmulator('kling-v2-6', async (emulator, upstream) => {
      await assert.rejects(submit({ ...upstream, apiKey: 'x' }), isFault('account'));
      await assert.rejects(submit({ ...upstream, model: 'kling-v9' }), isFault('config'));
      await assert.rejects(submit(upstream, { extra: { odd: 1 } }), isFault('client'));
      await assert.rejects(submit(upstream, { prompt: emulator.forbidden }), isFault('policy'));
      emulator.activeMax = 0;
      await assert.rejects(submit(upstream), isFault('rate'));
      emulator.isUsedUp = true;
      await assert.rejects(submit(upstream), isFault('account'));
      assert.equal(emulator.tasks.length, 0);
    }));

  test('a task without an id is garbled, and may have been accepted', () =>
    withEmulator('kling-v2-6', async (emulator, upstream) => {
      emulator.script({ kind: 'instead', ...json(200, { code: 0, data: {} }) });
      await assert.rejects(submit(upstream), isFault('garbled', { isUncertain: true }));
    }));
});

describe('a pair of keys', () => {
  const PAIR = { secret: KEY, accessKey: 'access' };
  const credential = { kind: 'access_key', access_key_id: 'access' };

  test('signs a token that the vendor takes, once for all calls', () =>
    withEmulator(
      'kling-v2-6',
      async (emulator, upstream) => {
        const signed = { ...upstream, credential };
        await poll(await submit(signed), signed);
        const [first, second] = emulator.requests.map(({ headers }) => headers.authorization);
        assert.match(first ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
        assert.equal(first, second);
        assert.ok(!JSON.stringify(emulator.requests.map(({ headers }) => headers)).includes(KEY));
      },
      PAIR,
    ));

  test('that is not the account’s is a fault of the account, and so is the secret alone', () =>
    withEmulator(
      'kling-v2-6',
      async (_emulator, upstream) => {
        await assert.rejects(submit({ ...upstream, credential, apiKey: 'x' }), isFault('account'));
        const another = { kind: 'access_key', access_key_id: 'another' };
        await assert.rejects(submit({ ...upstream, credential: another }), isFault('account'));
        await assert.rejects(submit(upstream), isFault('account'));
      },
      PAIR,
    ));

  test('is tried once more when a token is refused, and no oftener', () =>
    withEmulator(
      'kling-v2-6',
      async (emulator, upstream) => {
        const expired = { kind: 'instead', ...json(401, { code: 1004, message: 'token expired' }) } as const;
        emulator.script(expired);
        await submit({ ...upstream, credential });
        assert.equal(emulator.sent('POST').length, 2);
        emulator.script(expired, expired);
        await assert.rejects(submit({ ...upstream, credential }), isFault('account'));
        assert.equal(emulator.sent('POST').length, 4);
      },
      PAIR,
    ));
});
