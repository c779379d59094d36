import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import RunwayML from '@runwayml/sdk';
import { KEY, PICTURE_URI, RESULTS } from './emulator/calls.ts';
import { RunwayEmulator } from './emulator.ts';

// The emulator is held to the vendor's own library.
const emulator = new RunwayEmulator(KEY, RESULTS);
let library: RunwayML;
before(async () => {
  await emulator.start();
  library = new RunwayML({ apiKey: KEY, baseURL: emulator.url, maxRetries: 0 });
});
after(() => emulator.stop());

describe('the vendor’s library', () => {
  test('begins a clip, asks after it and fetches it', async () => {
    emulator.readsUntilDone = 2;
    const { id, estimatedCost } = await library.imageToVideo.create({
      model: 'gen4.5',
      promptText: 'Waves',
      promptImage: [{ uri: PICTURE_URI, position: 'first' }],
      ratio: '1280:720',
      duration: 5,
    });
    assert.equal(estimatedCost.credits, 5);
    const states = [await library.tasks.retrieve(id), await library.tasks.retrieve(id)].map(({ status }) => status);
    assert.deepEqual(states, ['PENDING', 'RUNNING']);
    const task = await library.tasks.retrieve(id);
    assert.ok(task.status === 'SUCCEEDED');
    assert.equal(await (await fetch(task.output[0] ?? '')).text(), RESULTS.video.toString());
    await library.tasks.delete(id);
    await assert.rejects(library.tasks.retrieve(id), RunwayML.NotFoundError);
  });

  test('makes pictures, effects and speech, each a task', async () => {
    emulator.readsUntilDone = 0;
    const picture = await library.textToImage.create({
      model: 'gpt_image_2',
      promptText: 'A gate',
      ratio: '1920:1920',
      outputCount: 2,
    });
    const effect = await library.soundEffect.create({
      model: 'eleven_text_to_sound_v2',
      promptText: 'Rain',
      duration: 2,
    });
    const speech = await library.textToSpeech.create({
      model: 'eleven_v3',
      promptText: 'Hello',
      voice: { type: 'runway-preset', presetId: 'Maya' },
    });
    const counts = [];
    for (const { id } of [picture, effect, speech]) {
      const task = await library.tasks.retrieve(id);
      counts.push(task.status === 'SUCCEEDED' ? task.output.length : task.status);
    }
    assert.deepEqual(counts, [2, 1, 1]);
  });

  test('is told that a task failed', async () => {
    emulator.readsUntilDone = 0;
    emulator.endings.push({ failureCode: 'SAFETY.INPUT.TEXT' });
    const { id } = await library.textToVideo.create({ model: 'veo3.1', promptText: 'x', ratio: '1280:720' });
    const task = await library.tasks.retrieve(id);
    assert.ok(task.status === 'FAILED');
    assert.equal(task.failureCode, 'SAFETY.INPUT.TEXT');
  });

  const INVALID: readonly { name: string; body: object }[] = [
    { name: 'no ratio', body: { model: 'gen4.5', promptText: 'x', duration: 5 } },
    { name: 'no duration', body: { model: 'gen4.5', promptText: 'x', ratio: '1280:720' } },
    { name: 'a shape in words', body: { model: 'gen4.5', promptText: 'x', ratio: '16:9', duration: 5 } },
    { name: 'eleven seconds', body: { model: 'gen4.5', promptText: 'x', ratio: '1280:720', duration: 11 } },
    { name: 'a text for a number', body: { model: 'gen4.5', promptText: 'x', ratio: '1280:720', duration: '5' } },
    { name: 'an unknown field', body: { model: 'gen4.5', promptText: 'x', ratio: '1280:720', duration: 5, odd: 1 } },
    { name: 'a prompt that is too long', body: { model: 'veo3.1', promptText: 'x'.repeat(1001), ratio: '1280:720' } },
    { name: 'an unknown model', body: { model: 'gen9', promptText: 'x' } },
    {
      name: 'a clip among pictures',
      body: { model: 'seedance2', promptText: 'x', references: [{ uri: 'data:video/mp4;base64,YWJj' }] },
    },
    {
      name: 'an address without TLS',
      body: { model: 'seedance2', promptText: 'x', references: [{ uri: 'http://example.com/a.png' }] },
    },
  ];
  for (const { name, body } of INVALID) {
    test(`${name} is a bad request`, async () => {
      // biome-ignore lint/suspicious/noExplicitAny: the types forbid it
      await assert.rejects(library.textToVideo.create(body as any), RunwayML.BadRequestError);
    });
  }

  test('a wrong key, another version and an unknown task are refused', async () => {
    const other = new RunwayML({ apiKey: 'other', baseURL: emulator.url, maxRetries: 0 });
    await assert.rejects(other.organization.retrieve(), RunwayML.AuthenticationError);
    const old = new RunwayML({ apiKey: KEY, baseURL: emulator.url, runwayVersion: '2023-01-01', maxRetries: 0 });
    await assert.rejects(old.organization.retrieve(), RunwayML.BadRequestError);
    await assert.rejects(library.tasks.retrieve('none'), RunwayML.NotFoundError);
    const { creditBalance, tier } = await library.organization.retrieve();
    assert.deepEqual([creditBalance, 'gen4.5' in tier.models], [100, true]);
  });

  test('an empty account is told as a bad request, a limit of the day as a throttle', async () => {
    const body = { model: 'veo3.1', promptText: 'x', ratio: '1280:720' } as const;
    emulator.credits = 0;
    await assert.rejects(library.textToVideo.create(body), /not have enough credits/);
    emulator.credits = 1000;
    emulator.tasksLeft = 0;
    await assert.rejects(library.textToVideo.create(body), RunwayML.RateLimitError);
  });
});
