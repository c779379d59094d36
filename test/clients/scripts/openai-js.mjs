import OpenAI from 'openai';
import { step } from './step.mjs';

// The address and the key come from the environment, as the library reads them.
const client = new OpenAI({ maxRetries: 0 });
const model = 'sandbox/chat';
const messages = [{ role: 'user', content: 'What is 12 * 7?' }];

await step('models.list', async () => {
  const models = await Array.fromAsync(client.models.list());
  return { ids: models.map(({ id }) => id) };
});

await step('chat.completions.create', async () => {
  const { choices, usage } = await client.chat.completions.create({ model, messages });
  return { text: choices[0].message.content, usage, credits: usage.credits };
});
