import { OpenAI } from '@llamaindex/openai';
import { Settings } from 'llamaindex';
import { step } from './step.mjs';

const { TOLLGATE_URL: origin, TOLLGATE_KEY: apiKey } = process.env;
Settings.llm = new OpenAI({ model: 'sandbox/chat', apiKey, baseURL: `${origin}/v1`, maxRetries: 0 });
const messages = [{ role: 'user', content: 'What is 12 * 7?' }];

let credits;
await step('OpenAI.chat', async () => {
  const { message, raw } = await Settings.llm.chat({ messages });
  credits = raw.usage.credits;
  return { text: message.content, credits };
});

await step('OpenAI.chat (stream)', async () => {
  const chunks = await Array.fromAsync(await Settings.llm.chat({ messages, stream: true }));
  // The library keeps the usage to itself: it is that of the same question and answer above.
  return { text: chunks.map(({ delta }) => delta).join(''), credits };
});
