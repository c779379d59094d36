import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'openai-js';
/** Of the catalogue: two seconds in 480p, and a thousand spoken characters. */
const CLIP_PRICE = 20;
const SPEECH_PRICE = 15;

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('the library openai, with an address and a key in its environment', async (t) => {
  const caller = await world.caller();
  const env = { OPENAI_BASE_URL: world.urls.openai, OPENAI_API_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  await steps.check(t, 'models.list', ({ ids }) => assert.ok(ids.includes('sandbox/chat'), ids));
  await steps.check(t, 'models.retrieve', ({ id }) => assert.equal(id, 'sandbox/chat'));
  await steps.check(t, 'chat.completions.create', ({ text }) => assert.match(text, /84/));
  await steps.check(t, 'chat.completions.create (stream)', ({ text, chunks }) => {
    assert.match(text, /84/);
    assert.ok(chunks > 2);
  });
  await steps.check(t, 'chat.completions.runTools', ({ text, cities }) => {
    assert.equal(cities.length, 1);
    assert.match(text, /Sunny/);
  });
  await steps.check(t, 'responses.create', ({ text }) => assert.match(text, /84/));
  await steps.check(t, 'responses.stream', ({ text, deltas }) => {
    assert.match(text, /84/);
    assert.equal(deltas, text);
  });
  await steps.check(t, 'embeddings.create', ({ lengths }) => {
    assert.equal(lengths.length, 2);
    assert.ok(lengths[0] > 0 && lengths[0] === lengths[1]);
  });
  for (const call of ['images.generate', 'images.edit']) {
    await steps.check(t, call, ({ begins, credits }) => assert.deepEqual([begins, credits], ['PNG', 10]));
  }
  await steps.check(t, 'videos.create', ({ status }) => assert.match(status, /^(queued|in_progress)$/));
  await steps.check(t, 'videos.retrieve', (video) =>
    assert.deepEqual(video, { status: 'completed', seconds: '2', error: null }),
  );
  await steps.check(t, 'videos.downloadContent', ({ box }) => assert.equal(box, 'ftyp'));
  await steps.check(t, 'videos.list', ({ ids }) => assert.equal(ids, 1));
  await steps.check(t, 'files.create', (file) => assert.deepEqual(file, { object: 'file', isWhole: true }));
  await steps.check(t, 'files.list', ({ ids }) => assert.deepEqual(ids, [true]));
  await steps.check(t, 'files.retrieve', ({ isSame }) => assert.equal(isSame, true));
  await steps.check(t, 'files.delete', ({ deleted }) => assert.equal(deleted, true));
  let spoken = 0;
  await steps.check(t, 'audio.speech.create', ({ begins, characters }) => {
    assert.equal(begins, 'RIFF');
    spoken = (characters * SPEECH_PRICE) / 1000;
  });
  await steps.check(t, 'audio.transcriptions.create', ({ text }) => assert.match(text, /open/i));
  await world.assertCharged(caller, steps.credits + CLIP_PRICE + spoken);
});
