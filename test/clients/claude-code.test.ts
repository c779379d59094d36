import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { textBlock, toolBlock } from '../../src/vendors/anthropic/emulator.ts';
import { called } from './support/record.ts';
import { runProgram } from './support/run.ts';
import { ClientWorld, studioPrice } from './support/world.ts';

const NAME = 'claude-code';
const SCRIPTED_ANSWERS = 3;
/** What the emulators say of every answer. */
const ANSWER_PRICE = studioPrice(12, 5);
const SMALL_ANSWER_PRICE = studioPrice(9, 3);

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

test('Claude Code answers a prompt and runs a command', async (t) => {
  const caller = await world.caller();
  const run = (prompt: string) =>
    runProgram(t, world, NAME, {
      command: 'node_modules/.bin/claude',
      args: ['-p', prompt, '--output-format', 'json', '--allowedTools', 'Bash'],
      env: {
        ANTHROPIC_BASE_URL: world.urls.origin,
        ANTHROPIC_AUTH_TOKEN: caller.key,
        ANTHROPIC_MODEL: 'studio/anthropic',
        ANTHROPIC_DEFAULT_HAIKU_MODEL: 'studio/openai',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
      cwd: 'project',
    });

  await called(NAME, 'a prompt (`POST /v1/messages`, streamed)', async () => {
    world.anthropic.script({ kind: 'message', content: [textBlock('It is 84.')] });
    const { code, out, err } = await run('What is 12 * 7?');
    assert.equal(code, 0, out + err);
    assert.equal(JSON.parse(out).result, 'It is 84.');
  });
  await called(NAME, 'a tool call (`Bash`)', async () => {
    const input = { command: 'echo toll-$((40 + 2))', description: 'Says a word' };
    world.anthropic.script(
      { kind: 'message', content: [toolBlock('toolu_1', 'Bash', input)], stopReason: 'tool_use' },
      { kind: 'message', content: [textBlock('The command ran.')] },
    );
    const { code, out, err } = await run('Run the command.');
    assert.equal(code, 0, out + err);
    assert.equal(JSON.parse(out).result, 'The command ran.');
    assert.match(String(world.anthropic.requests.at(-1)?.bytes), /toll-42/);
  });
  // The upstream refuses betas that it does not know, and the program repeats its request without them: refusals cost nothing.
  const small = world.openai.requests.length;
  await world.assertCharged(caller, SCRIPTED_ANSWERS * ANSWER_PRICE + small * SMALL_ANSWER_PRICE);
});
