import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'llamaindex-js';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('LlamaIndex chats, whole and in a stream', async (t) => {
  const caller = await world.caller();
  const env = { TOLLGATE_URL: world.urls.origin, TOLLGATE_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  await steps.check(t, 'OpenAI.chat', ({ text }) => assert.match(text, /84/));
  await steps.check(t, 'OpenAI.chat (stream)', ({ text }) => assert.match(text, /84/));
  await world.assertCharged(caller, steps.credits);
});
