import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'openai-js';

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
  await steps.check(t, 'chat.completions.create', ({ text }) => assert.match(text, /84/));
  await world.assertCharged(caller, steps.credits);
});
