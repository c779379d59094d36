import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { called } from './support/record.ts';
import { runProgram } from './support/run.ts';
import { ClientWorld, studioPrice } from './support/world.ts';

const NAME = 'opencode';
/** What the emulators say of every answer. */
const ANSWER_PRICE = studioPrice(9, 3);
const SMALL_ANSWER_PRICE = studioPrice(7, 3);

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

function configOf(): string {
  const options = { baseURL: world.urls.v1, apiKey: '{env:TOLLGATE_KEY}' };
  const models = { 'studio/openai': {}, 'studio/gemini': {} };
  return JSON.stringify({
    model: 'tollgate/studio/openai',
    small_model: 'tollgate/studio/gemini',
    autoupdate: false,
    share: 'disabled',
    provider: { tollgate: { npm: '@ai-sdk/openai-compatible', options, models } },
  });
}

test('opencode answers a prompt and runs a command', async (t) => {
  const caller = await world.caller();
  const run = (prompt: string) =>
    runProgram(t, world, NAME, {
      command: 'node_modules/.bin/opencode',
      args: ['run', prompt],
      env: {
        TOLLGATE_KEY: caller.key,
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        // It installs a package for plugins in the background, from where this says: nothing listens there.
        npm_config_registry: 'http://127.0.0.1:9/',
      },
      files: { 'project/opencode.json': configOf() },
      cwd: 'project',
    });

  await called(NAME, 'a prompt (`POST /v1/chat/completions`, streamed)', async () => {
    world.openai.script({ kind: 'answer', text: 'It is 84.' });
    const { code, out, err } = await run('What is 12 * 7?');
    assert.equal(code, 0, out + err);
    assert.match(out, /It is 84\./);
  });
  await called(NAME, 'a tool call (`bash`)', async () => {
    const input = JSON.stringify({ command: 'echo toll-$((40 + 2))', description: 'Says a word' });
    world.openai.script(
      { kind: 'answer', toolCalls: [{ id: 'call_1', name: 'bash', arguments: input }] },
      { kind: 'answer', text: 'The command ran.' },
    );
    const { code, out, err } = await run('Run the command.');
    assert.equal(code, 0, out + err);
    assert.match(out, /The command ran\./);
    assert.match(String(world.openai.requests.at(-1)?.bytes), /toll-42/);
  });
  const [answers, small] = [world.openai.requests.length, world.gemini.requests.length];
  await world.assertCharged(caller, answers * ANSWER_PRICE + small * SMALL_ANSWER_PRICE);
});
