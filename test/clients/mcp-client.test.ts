import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runScript } from './support/run.ts';
import { ClientWorld } from './support/world.ts';

const NAME = 'mcp-client';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('the official clients of the Model Context Protocol, of both majors', async (t) => {
  const caller = await world.caller();
  const env = { TOLLGATE_URL: world.urls.origin, TOLLGATE_KEY: caller.key };
  const steps = await runScript(t, world, NAME, env);
  for (const client of ['@modelcontextprotocol/client', '@modelcontextprotocol/sdk']) {
    await steps.check(t, `listTools (${client})`, ({ names }) => assert.ok(names.includes('generate_image'), names));
    await steps.check(t, `callTool credits (${client})`, ({ text, isError }) => {
      assert.notEqual(isError, true, text);
      assert.match(text, /^\d+ credits are available/);
    });
    await steps.check(t, `callTool generate_image (${client})`, ({ types, text, isError }) => {
      assert.notEqual(isError, true, text);
      assert.deepEqual(types, ['text', 'image', 'resource_link']);
    });
  }
  await world.assertCharged(caller, steps.credits);
});
