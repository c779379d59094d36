import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ApiError, createFalClient, type FalClient, type QueueStatus, ValidationError } from '@fal-ai/client';
import { KEY, MARKER, PNG } from './emulator/calls.ts';
import { ERRORS } from './emulator/errors.ts';
import { FalEmulator } from './emulator.ts';

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const clip = Buffer.from('a clip of the test');
  const emulator = new FalEmulator({ apiKey: KEY, marker: MARKER, readsUntilDone: 2, files: { video: clip } });
  let library: FalClient;
  before(async () => {
    await emulator.start();
    library = clientOf(KEY);
  });
  after(() => emulator.stop());

  /** Only the host is another; everything else is what the library does. */
  function clientOf(credentials: string): FalClient {
    return createFalClient({
      credentials,
      requestMiddleware: (request) =>
        Promise.resolve({ ...request, url: request.url.replace('https://queue.fal.run', emulator.url) }),
    });
  }

  test('submit, status and result', async () => {
    const input = { prompt: 'A lighthouse', num_images: 2, image_size: { width: 512, height: 256 } };
    const submitted = await library.queue.submit('fal-ai/flux/dev', { input, startTimeout: 600 });
    assert.equal(submitted.status, 'IN_QUEUE');
    const requestId = submitted.request_id;
    assert.equal(submitted.status_url, `${emulator.url}/fal-ai/flux/requests/${requestId}/status`);
    const states: string[] = [];
    for (let round = 0; round < 3; round++) {
      const told = await library.queue.status('fal-ai/flux/dev', { requestId, logs: true });
      states.push(told.status);
    }
    assert.deepEqual(states, ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    const result = await library.queue.result('fal-ai/flux/dev', { requestId });
    assert.equal(result.requestId, requestId);
    assert.deepEqual([result.data.images.length, result.data.has_nsfw_concepts], [2, [false, false]]);
    const file = await fetch(result.data.images[1]?.url ?? '');
    assert.ok(PNG.equals(Buffer.from(await file.arrayBuffer())));
    assert.deepEqual(emulator.tasks.at(-1)?.input, input);
  });

  test('a recording is transcribed as a task of the queue', async () => {
    const input = { audio_url: 'https://example.com/a.mp3', task: 'transcribe', chunk_level: 'segment' } as const;
    const { data } = await library.subscribe('fal-ai/whisper', { input, pollInterval: 1 });
    assert.deepEqual([data.text, data.chunks?.length, data.inferred_languages], ['Hello there. Hi.', 2, ['en']]);
  });

  test('speech is run by the direct host', async () => {
    const direct = new FalEmulator({ apiKey: KEY, marker: MARKER, isDirect: true, files: { audio: clip } });
    await direct.start();
    try {
      const runner = createFalClient({
        credentials: KEY,
        requestMiddleware: (request) =>
          Promise.resolve({ ...request, url: request.url.replace('https://fal.run', direct.url) }),
      });
      const input = {
        text: 'Hello',
        voice_setting: { voice_id: 'Wise_Woman', speed: 1.5 },
        output_format: 'url',
      } as const;
      const { data } = await runner.run('fal-ai/minimax/speech-02-hd', { input });
      assert.equal(await (await fetch(data.audio.url)).text(), clip.toString());
      const wrong = { ...input, voice_setting: { speed: 3 } };
      await assert.rejects(runner.run('fal-ai/minimax/speech-02-hd', { input: wrong }), ValidationError);
    } finally {
      await direct.stop();
    }
  });

  test('subscribe, with its updates', async () => {
    const updates: QueueStatus[] = [];
    const result = await library.subscribe('fal-ai/veo3.1', {
      input: { prompt: 'Waves', duration: '8s' },
      pollInterval: 1,
      onQueueUpdate: (update) => updates.push(update),
    });
    assert.deepEqual(
      updates.map(({ status }) => status),
      ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'],
    );
    const file = await fetch(result.data.video.url);
    assert.equal(await file.text(), clip.toString());
  });

  test('cancel, while the task is in the queue', async () => {
    const { request_id: requestId } = await library.queue.submit('fal-ai/flux/dev', { input: { prompt: 'x' } });
    await library.queue.cancel('fal-ai/flux/dev', { requestId });
    await assert.rejects(library.queue.result('fal-ai/flux/dev', { requestId }), { status: 499 });
  });

  test('a result that is asked for too early', async () => {
    const { request_id: requestId } = await library.queue.submit('fal-ai/flux/dev', { input: { prompt: 'x' } });
    await assert.rejects(library.queue.result('fal-ai/flux/dev', { requestId }), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(error.body, { detail: 'Request is still in progress' });
      return true;
    });
  });

  const INVALID: readonly { name: string; input: Record<string, unknown>; field: string; type: string }[] = [
    { name: 'no prompt', input: {}, field: 'prompt', type: 'missing' },
    { name: 'a prompt that is no text', input: { prompt: 1 }, field: 'prompt', type: 'string_type' },
    { name: 'five pictures', input: { prompt: 'x', num_images: 5 }, field: 'num_images', type: 'less_than_equal' },
    { name: 'no picture', input: { prompt: 'x', num_images: 0 }, field: 'num_images', type: 'greater_than_equal' },
    { name: 'an unknown size', input: { prompt: 'x', image_size: 'huge' }, field: 'image_size', type: 'literal_error' },
    { name: 'an unknown field', input: { prompt: 'x', odd: 1 }, field: 'odd', type: 'extra_forbidden' },
  ];
  for (const { name, input, field, type } of INVALID) {
    test(`${name} is a validation error`, async () => {
      const asked = library.queue.submit<string>('fal-ai/flux/dev', { input });
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof ValidationError);
        assert.deepEqual(
          error.getFieldErrors(field).map((found) => found.type),
          [type],
        );
        return true;
      });
    });
  }

  test('a number of seconds where the model wants a text', async () => {
    const asked = library.queue.submit<string>('fal-ai/veo3.1', { input: { prompt: 'x', duration: 8 } });
    await assert.rejects(asked, { status: 422 });
  });

  test('a wrong key, an unknown model and an unknown task are refused', async () => {
    const input = { prompt: 'x' };
    await assert.rejects(clientOf('other').queue.submit('fal-ai/flux/dev', { input }), { status: 401 });
    await assert.rejects(library.queue.submit<string>('fal-ai/none', { input }), { status: 404 });
    await assert.rejects(library.queue.status('fal-ai/flux/dev', { requestId: 'none' }), { status: 404 });
  });

  test('a run that failed is an error of its result', async () => {
    emulator.outcome({ kind: 'failure', error: 'policy' });
    const run = library.subscribe('fal-ai/flux/dev', { input: { prompt: 'x' }, pollInterval: 1 });
    await assert.rejects(run, (error) => {
      assert.ok(error instanceof ValidationError);
      assert.equal(error.fieldErrors[0]?.type, ERRORS.policy.body.detail[0]?.type);
      return true;
    });
  });

  test('a run that did not begin in time is known as such', async () => {
    emulator.outcome({ kind: 'failure', error: 'notBegun' });
    const run = library.subscribe('fal-ai/flux/dev', { input: { prompt: 'x' }, startTimeout: 2, pollInterval: 1 });
    await assert.rejects(run, (error) => error instanceof ApiError && error.isUserTimeout);
    assert.equal(emulator.requests.findLast(({ step }) => step === 'submit')?.headers['x-fal-request-timeout'], '2');
  });
});
