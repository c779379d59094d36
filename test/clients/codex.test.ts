import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { called } from './support/record.ts';
import { type Ended, runProgram } from './support/run.ts';
import { ClientWorld, studioPrice } from './support/world.ts';

const NAME = 'codex';
/** What the emulator says of every answer. */
const ANSWER_PRICE = studioPrice(9, 3);

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

function configOf(model: string): string {
  return `model = "${model}"
model_provider = "tollgate"
check_for_update_on_startup = false

[model_providers.tollgate]
name = "Tollgate"
base_url = "${world.urls.v1}"
env_key = "TOLLGATE_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
plugins = false
`;
}

test('codex answers a prompt and runs a command', async (t) => {
  const caller = await world.caller();
  const run = (model: string, prompt: string): Promise<Ended> =>
    runProgram(t, world, NAME, {
      command: 'node_modules/.bin/codex',
      args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
      env: { TOLLGATE_KEY: caller.key },
      files: { '.codex/config.toml': configOf(model) },
      cwd: 'project',
    });

  await called(NAME, 'a prompt (`POST /v1/responses`, streamed)', async () => {
    const { code, out, err } = await run('studio/openai', 'What is 12 * 7?');
    assert.equal(code, 0, err);
    assert.match(out, /Hello there\./);
  });
  const before = world.openai.requests.length;
  await called(NAME, 'a tool call (`exec_command`)', async () => {
    const input = JSON.stringify({ cmd: 'echo toll-$((40 + 2))' });
    world.openai.script(
      { kind: 'answer', toolCalls: [{ id: 'call_1', name: 'exec_command', arguments: input }] },
      { kind: 'answer', text: 'The command ran.' },
    );
    const { code, out, err } = await run('studio/openai', 'Run the command.');
    assert.equal(code, 0, err);
    assert.match(out, /The command ran\./);
    assert.equal(world.openai.requests.length, before + 2);
    assert.match(String(world.openai.requests.at(-1)?.bytes), /toll-42/);
  });
  await world.assertCharged(caller, world.openai.requests.length * ANSWER_PRICE);
});
