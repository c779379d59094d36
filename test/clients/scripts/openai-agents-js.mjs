import { Agent, run, tool } from '@openai/agents';
import { step } from './step.mjs';
import { tokenCredits } from './token-credits.mjs';

// The address and the key come from the environment, as the library below it reads them.
const cities = [];
const weather = tool({
  name: 'weather',
  description: 'The weather in a city',
  strict: false,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: true,
  },
  execute: async ({ city }) => {
    cities.push(city);
    return 'Sunny';
  },
});
const agent = new Agent({ name: 'Guide', instructions: 'Be brief.', model: 'sandbox/chat', tools: [weather] });
const creditsOf = ({ rawResponses }) =>
  rawResponses.reduce((sum, { usage }) => sum + tokenCredits(usage.inputTokens, usage.outputTokens), 0);

await step('run', async () => {
  const result = await run(agent, 'What is 12 * 7?');
  return { text: result.finalOutput, credits: creditsOf(result) };
});

await step('run with a tool', async () => {
  const result = await run(agent, 'How is the weather in Bern?');
  return { text: result.finalOutput, cities: [...cities], credits: creditsOf(result) };
});

await step('run with a tool (stream)', async () => {
  const result = await run(agent, 'How is the weather in Basel?', { stream: true });
  const pieces = await Array.fromAsync(result.toTextStream());
  await result.completed;
  return { text: result.finalOutput, pieces: pieces.length, cities, credits: creditsOf(result) };
});
