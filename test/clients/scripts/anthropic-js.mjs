import Anthropic from '@anthropic-ai/sdk';
import { step } from './step.mjs';
import { tokenCredits } from './token-credits.mjs';

// The address and the key come from the environment, as the library reads them.
const client = new Anthropic({ maxRetries: 0 });
const messages = [{ role: 'user', content: 'What is 12 * 7?' }];
const priceOf = ({ input_tokens, output_tokens }) => tokenCredits(input_tokens, output_tokens);

await step('models.list', async () => {
  const models = await Array.fromAsync(client.models.list());
  return { ids: models.map(({ id }) => id) };
});

for (const model of ['sandbox/chat', 'studio/anthropic']) {
  await step(`messages.create (${model})`, async () => {
    const { content, usage, stop_reason } = await client.messages.create({ model, max_tokens: 200, messages });
    return { text: content[0].text, stop_reason, credits: priceOf(usage) };
  });

  await step(`messages.stream (${model})`, async () => {
    const { content, usage } = await client.messages.stream({ model, max_tokens: 200, messages }).finalMessage();
    return { text: content[0].text, credits: priceOf(usage) };
  });
}

await step('messages.create (tool call and result)', async () => {
  const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ name: 'weather', description: 'The weather in a city', input_schema }];
  const question = { role: 'user', content: 'How is the weather in Bern?' };
  const asked = { model: 'sandbox/chat', max_tokens: 200, tools };
  const first = await client.messages.create({ ...asked, messages: [question] });
  const call = first.content.find(({ type }) => type === 'tool_use');
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Sunny' }] };
  const turns = [question, { role: 'assistant', content: first.content }, result];
  const second = await client.messages.create({ ...asked, messages: turns });
  return { tool: call.name, text: second.content[0].text, credits: priceOf(first.usage) + priceOf(second.usage) };
});

await step('messages.countTokens', async () => client.messages.countTokens({ model: 'sandbox/chat', messages }));
