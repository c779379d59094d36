import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Replicate, { type Prediction } from 'replicate';
import { KEY, RESULT, versioned } from './emulator/calls.ts';
import { ReplicateEmulator } from './emulator.ts';

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new ReplicateEmulator(KEY, RESULT);
  let library: Replicate;
  before(async () => {
    await emulator.start();
    library = new Replicate({ auth: KEY, baseUrl: emulator.url, useFileOutput: false });
  });
  after(() => emulator.stop());

  const model = 'black-forest-labs/flux-schnell';

  test('create, get, list and cancel', async () => {
    const created: Prediction = await library.predictions.create({
      model,
      input: { prompt: 'A gate', num_outputs: 2 },
    });
    assert.deepEqual([created.status, created.source, created.data_removed], ['starting', 'api', false]);
    const ended = await library.wait(created, { interval: 1 });
    assert.deepEqual([ended.status, ended.output.length, ended.metrics?.predict_time], ['succeeded', 2, 2.5]);
    assert.deepEqual(Buffer.from(await (await fetch(ended.output[1])).arrayBuffer()), RESULT);
    const { results } = await library.predictions.list();
    assert.deepEqual(
      results.map(({ id }) => id),
      [created.id],
    );
    const stopped = await library.predictions.cancel(
      (await library.predictions.create({ model, input: { prompt: 'A gate' } })).id,
    );
    assert.equal(stopped.status, 'canceled');
  });

  test('models are listed page by page', async () => {
    const first = await library.models.list();
    const pages = await Array.fromAsync(library.paginate(() => Promise.resolve(first)));
    const names = pages.flat().map(({ owner, name }) => `${owner}/${name}`);
    assert.ok(first.results.length < names.length && names.includes(model), names.join());
  });

  test('run waits on the line, and uploads what is given as bytes', async () => {
    const image = new Blob([Buffer.from('png')], { type: 'image/png' });
    const output = await library.run('black-forest-labs/flux-2-pro', { input: { prompt: 'x', input_images: [image] } });
    assert.match(JSON.stringify(output), /\/delivery\/prediction-\d+\/0"$/);
    assert.equal(emulator.uploads.length, 1);
    assert.deepEqual(emulator.submissions.at(-1)?.input.input_images, [`${emulator.url}/files/file-1`]);
  });

  test('a model by its version, and the account', async () => {
    const input = { audio: 'https://example.com/a.mp3' };
    const output = await library.run(versioned('openai/whisper'), { input });
    assert.equal((output as { transcription?: string }).transcription, 'Pay here.');
    assert.equal((await library.accounts.current()).type, 'organization');
  });

  test('refusals are errors with the status', async () => {
    const stranger = new Replicate({ auth: 'x', baseUrl: emulator.url });
    const status = (expected: number) => (error: unknown) =>
      (error as { response?: Response }).response?.status === expected;
    await assert.rejects(stranger.predictions.create({ model, input: { prompt: 'x' } }), status(401));
    await assert.rejects(library.predictions.create({ model, input: { prompt: 'x', colour: 1 } }), status(422));
    await assert.rejects(library.predictions.create({ model: 'no/model', input: {} }), status(404));
    emulator.hasCredit = false;
    await assert.rejects(library.predictions.create({ model, input: { prompt: 'x' } }), status(402));
  });
});
