import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { called } from './support/record.ts';
import { runProgram } from './support/run.ts';
import { ClientWorld, studioPrice } from './support/world.ts';

const NAME = 'llm';
const SUM = 'What is 12 * 7?';

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());

const model = (id: string, more = '') =>
  `- {model_id: ${id}, model_name: sandbox/chat, api_base: ${world.urls.v1}, api_key_name: openai, supports_schema: true${more}}\n`;

/** Runs the command with a model of each kind in its list. With `-u` it tells what an answer took. */
async function run(t: TestContext, key: string, ...args: readonly string[]) {
  const files = {
    '.config/io.datasette.llm/extra-openai-models.yaml': model('gate') + model('gate-responses', ', responses: true'),
  };
  const command = { command: 'bin/python', args: ['-m', 'llm', ...args], env: { OPENAI_API_KEY: key }, files };
  const { code, out, err } = await runProgram(t, world, NAME, command);
  const [, input = '0', output = '0'] = /([\d,]+) input, ([\d,]+) output/.exec(err) ?? [];
  return { code, out, err, credits: studioPrice(Number(input), Number(output)) };
}

test('llm, with an entry in extra-openai-models.yaml', async (t) => {
  const caller = await world.caller();
  let credits = 0;
  for (const [call, ...args] of [
    ['llm -m', '-m', 'gate'],
    ['llm --no-stream', '-m', 'gate', '--no-stream'],
    ['llm -m, responses: true', '-m', 'gate-responses'],
  ] as const) {
    await called(NAME, `\`${call}\``, async () => {
      const answer = await run(t, caller.key, ...args, '-u', SUM);
      assert.match(answer.out, /12 \* 7 = 84/, answer.err);
      credits += answer.credits;
    });
  }
  await called(NAME, '`llm --schema`', async () => {
    const answer = await run(t, caller.key, '-m', 'gate', '-u', '--schema', 'name, people int', 'Tell me of Bern');
    assert.equal(JSON.parse(answer.out).name, 'Bern', answer.err);
    credits += answer.credits;
  });
  await called(NAME, 'a refusal in its own words', async () => {
    const { code, err } = await run(t, 'sk-tg1-wrong', '-m', 'gate', SUM);
    assert.equal(code, 1);
    assert.match(err, /This API key does not exist\./);
  });
  await world.assertCharged(caller, credits);
});
