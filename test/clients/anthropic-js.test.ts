import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'anthropic-js';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('the library of Anthropic, with an address and a key in its environment', async (t) => {
  const caller = await world.caller();
  const env = { ANTHROPIC_BASE_URL: world.urls.origin, ANTHROPIC_API_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  await steps.check(t, 'models.list', ({ ids }) => assert.ok(ids.includes('sandbox/chat'), ids));
  for (const call of ['messages.create', 'messages.stream']) {
    await steps.check(t, `${call} (sandbox/chat)`, ({ text }) => assert.match(text, /84/));
    await steps.check(t, `${call} (studio/anthropic)`, ({ text }) => assert.equal(text, 'Hello.'));
  }
  await steps.check(t, 'messages.create (tool call and result)', ({ tool, text }) => {
    assert.equal(tool, 'weather');
    assert.match(text, /Sunny/);
  });
  await steps.check(t, 'messages.countTokens', ({ input_tokens }) => assert.ok(input_tokens > 0));
  await world.assertCharged(caller, steps.credits);
});
