import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'openai-agents-js';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('the library @openai/agents runs a tool between two turns', async (t) => {
  const caller = await world.caller();
  const env = { OPENAI_BASE_URL: world.urls.v1, OPENAI_API_KEY: caller.key, OPENAI_AGENTS_DISABLE_TRACING: '1' };
  const steps = await runScript(t, world, NAME, env);
  await steps.check(t, 'run', ({ text }) => assert.match(text, /84/));
  await steps.check(t, 'run with a tool', ({ text, cities }) => {
    assert.equal(cities.length, 1);
    assert.match(text, /Sunny/);
  });
  await steps.check(t, 'run with a tool (stream)', ({ text, pieces, cities }) => {
    assert.ok(pieces > 1 && cities.length === 2);
    assert.match(text, /Sunny/);
  });
  await world.assertCharged(caller, steps.credits);
});
