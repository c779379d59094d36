import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'genai-js';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('the library of Google, with an address and a key in its environment', async (t) => {
  const caller = await world.caller();
  const env = { GOOGLE_GEMINI_BASE_URL: world.urls.origin, GEMINI_API_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  for (const call of ['models.generateContent', 'models.generateContentStream']) {
    await steps.check(t, call, ({ text }) => assert.match(text, /84/));
  }
  await steps.check(t, 'models.countTokens', ({ totalTokens }) => assert.ok(totalTokens > 0));
  await steps.check(t, 'chats.sendMessage (function call and result)', ({ tool, text }) => {
    assert.equal(tool, 'weather');
    assert.match(text, /Sunny/);
  });
  await world.assertCharged(caller, steps.credits);
});
