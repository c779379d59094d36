import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'ai-sdk';
const VENDORS = [
  '@ai-sdk/openai, responses',
  '@ai-sdk/openai, chat',
  '@ai-sdk/openai-compatible',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
] as const;

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('the AI SDK, with four of its vendor packages', async (t) => {
  const caller = await world.caller();
  const env = { TOLLGATE_URL: world.urls.origin, TOLLGATE_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  for (const name of VENDORS) {
    await steps.check(t, `generateText (${name})`, ({ text }) => assert.match(text, /84/));
    await steps.check(t, `streamText (${name})`, ({ text }) => assert.match(text, /84/));
    await steps.check(t, `generateText with a tool (${name})`, ({ text, cities }) => {
      assert.equal(cities.length, 1);
      assert.match(text, /Sunny/);
    });
  }
  await steps.check(t, 'embed (@ai-sdk/openai)', ({ length }) => assert.ok(length > 0));
  await steps.check(t, 'generateImage (@ai-sdk/openai)', ({ mediaType }) => assert.equal(mediaType, 'image/png'));
  await world.assertCharged(caller, steps.credits);
});
