import { GoogleGenAI } from '@google/genai';
import { step } from './step.mjs';
import { tokenCredits } from './token-credits.mjs';

// The address and the key come from the environment, as the library reads them. Its version 3 calls /v1 unless told otherwise.
const client = new GoogleGenAI({});
const model = 'models/sandbox/native';
const contents = 'What is 12 * 7?';
const priceOf = ({ promptTokenCount, candidatesTokenCount }) => tokenCredits(promptTokenCount, candidatesTokenCount);

await step('models.generateContent', async () => {
  const { text, usageMetadata } = await client.models.generateContent({ model, contents });
  return { text, credits: priceOf(usageMetadata) };
});

await step('models.generateContentStream', async () => {
  const chunks = await Array.fromAsync(await client.models.generateContentStream({ model, contents }));
  return { text: chunks.map(({ text }) => text ?? '').join(''), credits: priceOf(chunks.at(-1).usageMetadata) };
});

await step('models.countTokens', async () => client.models.countTokens({ model, contents }));

await step('chats.sendMessage (function call and result)', async () => {
  const parametersJsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const weather = { name: 'weather', description: 'The weather in a city', parametersJsonSchema };
  const chat = client.chats.create({ model, config: { tools: [{ functionDeclarations: [weather] }] } });
  const first = await chat.sendMessage({ message: 'How is the weather in Bern?' });
  const [call] = first.functionCalls;
  const part = { functionResponse: { name: call.name, response: { output: 'Sunny' } } };
  const second = await chat.sendMessage({ message: [part] });
  const credits = priceOf(first.usageMetadata) + priceOf(second.usageMetadata);
  return { tool: call.name, args: call.args, text: second.text, credits };
});
