import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage, plainSound, plainVideo } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia } from '../index.ts';
import { isFault, ORDER, poll, submit, versioned, withEmulator } from './emulator/calls.ts';
import { work as replicate } from './work.ts';

const MODEL = 'black-forest-labs/flux-2-pro';
const { image } = replicate;

test('a prediction waits, works, ends with its file and tells how long it took', () =>
  withEmulator(async ({ emulator, upstream }) => {
    const task = await submit(image, plainImage(), upstream(MODEL));
    assert.deepEqual(task, { id: 'prediction-1' });
    assert.deepEqual(await poll(image, task, upstream(MODEL)), { state: 'running' });
    const outputs = [{ url: `${emulator.origin}/delivery/prediction-1/0` }];
    assert.deepEqual(await poll(image, task, upstream(MODEL)), {
      state: 'succeeded',
      outputs,
      usage: { seconds: 2.5 },
    });
  }));

describe('where a model is asked for', () => {
  for (const [model, path] of [
    ['black-forest-labs/flux-2-pro', '/v1/models/black-forest-labs/flux-2-pro/predictions'],
    ['deployments/black-forest-labs/flux-2-pro', '/v1/deployments/black-forest-labs/flux-2-pro/predictions'],
  ] as const) {
    test(model, () =>
      withEmulator(async ({ emulator, upstream }) => {
        await submit(image, plainImage(), upstream(model));
        assert.deepEqual(
          emulator.requests.map(({ path: at }) => at),
          [path],
        );
        assert.equal(emulator.submissions[0]?.version, undefined);
      }),
    );
  }

  test('by its version where it has one', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const model = versioned('meta/musicgen');
      const request = { ...plainVideo({ prompt: 'x' }) };
      await assert.rejects(submit(image, plainImage(), upstream('0'.repeat(64))), isFault('config'));
      await submit(replicate.video, request, upstream(model));
      assert.equal(emulator.requests.at(-1)?.path, '/v1/predictions');
      assert.equal(emulator.submissions.at(-1)?.version, model);
    }));
});

describe('what became of a prediction', () => {
  for (const [error, code] of [
    [
      'The input or output was flagged as sensitive. Please try again with different inputs. (E005)',
      'content_rejected',
    ],
    ['NSFW content detected. Try running it again, or try a different prompt.', 'content_rejected'],
    ['All generated images contained NSFW content', 'content_rejected'],
    ['Input validation error: could not download image', 'upstream_rejected'],
    ['Invalid input (E006)', 'upstream_rejected'],
    ['CUDA out of memory (E1001)', 'upstream_failed'],
    ['Service is temporarily unavailable due to high demand (E003)', 'upstream_failed'],
    ['list index out of range', 'upstream_failed'],
  ] as const) {
    test(`"${error.slice(0, 50)}" is ${code}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push({ error });
        const task = await submit(image, plainImage(), upstream(MODEL));
        const detail = `failed: ${error}`;
        assert.deepEqual(await poll(image, task, upstream(MODEL)), { state: 'failed', code, detail });
      }));
  }

  for (const ending of ['canceled', 'aborted'] as const) {
    test(`${ending} has failed`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push(ending);
        const result = await poll(image, await submit(image, plainImage(), upstream(MODEL)), upstream(MODEL));
        assert.deepEqual(result, { state: 'failed', code: 'upstream_failed', detail: `${ending}: ` });
      }));
  }

  test('after an hour a success has nothing to deliver, and one that is unknown is lost', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.readsUntilDone = 0;
      const task = await submit(image, plainImage(), upstream(MODEL));
      emulator.areDataRemoved = true;
      const gone = await poll(image, task, upstream(MODEL));
      assert.deepEqual([gone.state, 'code' in gone && gone.code], ['failed', 'upstream_failed']);
      const lost = await poll(image, { id: 'another' }, upstream(MODEL));
      assert.deepEqual(lost, { state: 'failed', code: 'upstream_failed', detail: 'the task is lost: 404' });
    }));

  const OUTPUTS: readonly [output: unknown, expected: unknown][] = [
    ['https://replicate.delivery/a.png', [{ url: 'https://replicate.delivery/a.png' }]],
    [
      ['https://x.replicate.delivery/1', 'https://x.replicate.delivery/2'],
      [{ url: 'https://x.replicate.delivery/1' }, { url: 'https://x.replicate.delivery/2' }],
    ],
    [{ images: ['https://r.example/1'], seed: 4 }, [{ url: 'https://r.example/1' }]],
    [{ url: 'https://r.example/1' }, [{ url: 'https://r.example/1' }]],
    ['data:image/png;base64,cG5n', [{ data: Buffer.from('png') }]],
    ['some words', undefined],
    [{ text: 'https://r.example/1' }, undefined],
    [[], undefined],
  ];
  for (const [output, expected] of OUTPUTS) {
    test(`${JSON.stringify(output)} for an output`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const task = await submit(image, plainImage(), upstream(MODEL));
        emulator.script({ kind: 'instead', ...json(200, { id: 'p', status: 'succeeded', output }) });
        const result = await poll(image, task, upstream(MODEL));
        assert.deepEqual('outputs' in result ? result.outputs : undefined, expected);
        assert.equal(result.state, expected === undefined ? 'failed' : 'succeeded');
      }));
  }

  test('a file behind the key is fetched with it, and no other', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.readsUntilDone = 0;
      emulator.deliveryUrl = `${emulator.url}/files/file-9`;
      const own = await poll(image, await submit(image, plainImage(), upstream(MODEL)), upstream(MODEL));
      assert.deepEqual('outputs' in own && own.outputs, [{ path: '/files/file-9' }]);
      emulator.deliveryUrl = `${emulator.url}.evil.example/files/file-9`;
      const foreign = await poll(image, await submit(image, plainImage(), upstream(MODEL)), upstream(MODEL));
      assert.deepEqual('outputs' in foreign && foreign.outputs, [{ url: emulator.deliveryUrl }]);
    }));

  for (const body of [{ id: 't', status: 'dreaming' }, { id: 't' }]) {
    test(`${JSON.stringify(body)} is garbled`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const task = await submit(image, plainImage(), upstream(MODEL));
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(image, task, upstream(MODEL)), isFault('garbled'));
      }));
  }
});

describe('a refusal is known by its body', () => {
  const THROTTLED =
    'Your rate limit is reduced to 6 requests per minute while you have less than $5.0 in credit. Your rate limit resets in ~9s.';
  const REFUSALS: readonly [status: number, body: object, fault: Fault][] = [
    [402, { title: 'Insufficient credit', detail: 'You have insufficient credit to run this model.' }, 'account'],
    [400, { detail: 'You have insufficient credit to run this model.' }, 'account'],
    [429, { detail: 'Monthly spend limit reached' }, 'account'],
    [429, { detail: THROTTLED }, 'rate'],
    [422, { title: 'Invalid version or not permitted', detail: 'The specified version does not exist' }, 'config'],
    [404, { detail: 'The requested resource could not be found.' }, 'config'],
    [422, { title: 'Input validation failed', detail: '- input.prompt: "nsfw" is too short' }, 'client'],
    [400, { detail: 'Your prompt was flagged as sensitive' }, 'policy'],
    [503, { detail: 'The moderation system is down' }, 'server'],
    [401, { title: 'Unauthenticated', detail: 'You did not pass a valid authentication token' }, 'account'],
  ];
  for (const [status, body, fault] of REFUSALS) {
    test(`${status} with ${JSON.stringify(body).slice(0, 70)} is ${fault}, and certain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(submit(image, plainImage(), upstream(MODEL)), isFault(fault, { isUncertain: false }));
      }));
  }

  test('an account without credit, and one that asks too often', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.isThrottled = true;
      await assert.rejects(submit(image, plainImage(), upstream(MODEL)), isFault('rate', { retryAfterMs: 30_000 }));
      emulator.hasCredit = false;
      await assert.rejects(submit(image, plainImage(), upstream(MODEL)), isFault('account'));
      await assert.rejects(submit(image, plainImage(), { ...upstream(MODEL), apiKey: 'x' }), isFault('account'));
      await assert.rejects(submit(image, plainImage(), upstream('no/model')), isFault('config'));
    }));

  test('the check of a credential makes nothing', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await replicate.check?.run(upstream(MODEL));
      await assert.rejects(async () => replicate.check?.run({ ...upstream(MODEL), apiKey: 'x' }), isFault('account'));
      assert.equal(emulator.sent('POST').length, 0);
    }));
});

describe('media', () => {
  const large = (url?: string) => inMemoryMedia(Buffer.alloc(300_000, 7), 'image/png', url);

  test('a large one is uploaded, or goes by its address', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const referenceImages = [large(), large('https://example.com/a.png'), large('http://example.com/a.png')];
      await submit(image, plainImage({ referenceImages }), upstream(MODEL));
      const { input_images } = emulator.submissions[0]?.input ?? {};
      const files = ['file-1', 'file-2'].map((id) => `${emulator.url}/files/${id}`);
      assert.deepEqual(input_images, [files[0], 'https://example.com/a.png', files[1]]);
      assert.deepEqual(
        emulator.uploads.map(({ name, type, size }) => [name, type, size]),
        Array(2).fill(['input.png', 'image/png', 300_000]),
      );
    }));

  test('an upload without an answer is certain: nothing was begun', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.script({ kind: 'fault', fault: 'reset' });
      const request = plainImage({ referenceImages: [large()] });
      await assert.rejects(submit(image, request, upstream(MODEL)), isFault('connection', { isUncertain: false }));
      assert.equal(emulator.submissions.length, 0);
    }));
});

describe('a submission without an answer', () => {
  const lost = { kind: 'fault', fault: 'reset' } as const;
  const adopt =
    (request: ReturnType<typeof plainImage>, order = ORDER) =>
    (upstream: Parameters<NonNullable<NonNullable<typeof image>['adopt']>>[2]) =>
      image?.adopt?.(request, order, upstream);

  test('is found by its seed, among others of the same words', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await submit(image, plainImage(), upstream(MODEL), { ...ORDER, id: 'order-0' });
      emulator.script(lost);
      await assert.rejects(submit(image, plainImage(), upstream(MODEL)), isFault('connection', { isUncertain: true }));
      await submit(image, plainImage(), upstream(MODEL), { ...ORDER, id: 'order-2' });
      const found = await adopt(plainImage())(upstream(MODEL));
      assert.deepEqual(found, { state: 'accepted', task: { id: 'prediction-2' } });
    }));

  test('is found behind the first page', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await submit(image, plainImage(), upstream(MODEL));
      for (let at = 0; at < 100; at++) {
        await submit(image, plainImage(), upstream(MODEL), { ...ORDER, id: `other-${at}` });
      }
      const found = await adopt(plainImage())(upstream(MODEL));
      assert.deepEqual(found, { state: 'accepted', task: { id: 'prediction-1' } });
      assert.equal(emulator.sent('GET').length, 2);
    }));

  test('never arrived where the list is whole and does not have it', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.createdAt = '2026-11-18T05:00:00.000Z';
      await submit(image, plainImage(), upstream(MODEL));
      assert.equal(await adopt(plainImage())(upstream(MODEL)), undefined);
    }));

  test('is unknown where a seed was given, none is taken, or inputs were removed', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const unknown = { state: 'unknown' };
      assert.deepEqual(await adopt(plainImage({ seed: 7 }))(upstream(MODEL)), unknown);
      assert.deepEqual(await adopt(plainImage())(upstream('google/imagen-4')), unknown);
      assert.equal(emulator.requests.length, 0);
      await submit(image, plainImage(), upstream(MODEL));
      emulator.areDataRemoved = true;
      assert.deepEqual(await adopt(plainImage())(upstream(MODEL)), unknown);
    }));

  test('is unknown of a model that is not, which is sent no seed unasked', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const model = versioned('meta/musicgen');
      const request = plainSound({ prompt: 'A waltz' });
      await submit(replicate.music, request, upstream(model));
      assert.deepEqual(emulator.submissions[0]?.input, { prompt: 'A waltz' });
      assert.deepEqual(await replicate.music?.adopt?.(request, ORDER, upstream(model)), { state: 'unknown' });
    }));

  test('is asked for again where the list is garbled, and never at another host', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.script({ kind: 'instead', ...json(200, { next: null }) });
      await assert.rejects(async () => adopt(plainImage())(upstream(MODEL)), isFault('garbled'));
      emulator.script({ kind: 'instead', ...json(200, { next: 'https://evil.example/v1/predictions', results: [] }) });
      await assert.rejects(async () => adopt(plainImage())(upstream(MODEL)), isFault('garbled'));
      assert.equal(emulator.requests.length, 2);
    }));
});
