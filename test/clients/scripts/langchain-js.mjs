import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { step } from './step.mjs';
import { tokenCredits } from './token-credits.mjs';

const { TOLLGATE_URL: origin, TOLLGATE_KEY: apiKey } = process.env;
const configuration = { baseURL: `${origin}/v1` };
const settings = { model: 'sandbox/chat', apiKey, configuration, maxRetries: 0 };
const model = new ChatOpenAI(settings);
const responses = new ChatOpenAI({ ...settings, useResponsesApi: true });
const priceOf = ({ usage_metadata: { input_tokens, output_tokens } }) => tokenCredits(input_tokens, output_tokens);

await step('ChatOpenAI.invoke', async () => {
  const message = await model.invoke('What is 12 * 7?');
  return { text: message.text, credits: priceOf(message) };
});

await step('ChatOpenAI.stream', async () => {
  const chunks = await Array.fromAsync(await model.stream('What is 12 * 7?'));
  const message = chunks.reduce((whole, chunk) => whole.concat(chunk));
  return { text: message.text, chunks: chunks.length, credits: priceOf(message) };
});

await step('ChatOpenAI.invoke (responses)', async () => {
  const message = await responses.invoke('What is 12 * 7?');
  return { text: message.text, credits: priceOf(message) };
});

await step('createAgent with a tool', async () => {
  const cities = [];
  const weather = tool(
    ({ city }) => {
      cities.push(city);
      return 'Sunny';
    },
    { name: 'weather', description: 'The weather in a city', schema: z.object({ city: z.string() }) },
  );
  const agent = createAgent({ model, tools: [weather] });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'How is the weather in Bern?' }] });
  const credits = messages.reduce((sum, message) => sum + (message.usage_metadata ? priceOf(message) : 0), 0);
  return { text: messages.at(-1).text, cities, credits };
});

await step('OpenAIEmbeddings.embedDocuments', async () => {
  const embeddings = new OpenAIEmbeddings({ model: 'sandbox/embedding', apiKey, configuration, maxRetries: 0 });
  const vectors = await embeddings.embedDocuments(['a gate', 'a toll']);
  // The library keeps the usage to itself: four tokens, at 0.1 credits per thousand.
  return { lengths: vectors.map(({ length }) => length), credits: 0.0004 };
});
