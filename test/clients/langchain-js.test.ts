import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'langchain-js';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('LangChain chats, runs an agent and embeds', async (t) => {
  const caller = await world.caller();
  const env = { TOLLGATE_URL: world.urls.origin, TOLLGATE_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  await steps.check(t, 'ChatOpenAI.invoke', ({ text }) => assert.match(text, /84/));
  await steps.check(t, 'ChatOpenAI.stream', ({ text, chunks }) => {
    assert.match(text, /84/);
    assert.ok(chunks > 2);
  });
  await steps.check(t, 'ChatOpenAI.invoke (responses)', ({ text }) => assert.match(text, /84/));
  await steps.check(t, 'createAgent with a tool', ({ text, cities }) => {
    assert.equal(cities.length, 1);
    assert.match(text, /Sunny/);
  });
  await steps.check(t, 'OpenAIEmbeddings.embedDocuments', ({ lengths }) => {
    assert.ok(lengths.length === 2 && lengths[0] > 0 && lengths[0] === lengths[1]);
  });
  await world.assertCharged(caller, steps.credits);
});
