import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, generateImage, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import { step } from './step.mjs';
import { tokenCredits } from './token-credits.mjs';

const { TOLLGATE_URL: origin, TOLLGATE_KEY: apiKey } = process.env;
const v1 = `${origin}/v1`;
const openai = createOpenAI({ baseURL: v1, apiKey });
const compatible = createOpenAICompatible({ name: 'tollgate', baseURL: v1, apiKey, includeUsage: true });
const MODELS = {
  '@ai-sdk/openai, responses': openai('sandbox/chat'),
  '@ai-sdk/openai, chat': openai.chat('sandbox/chat'),
  '@ai-sdk/openai-compatible': compatible('sandbox/chat'),
  '@ai-sdk/anthropic': createAnthropic({ baseURL: v1, apiKey })('sandbox/chat'),
  '@ai-sdk/google': createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey })('models/sandbox/native'),
};
const inputSchema = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
const priceOf = ({ inputTokens, outputTokens }) => tokenCredits(inputTokens, outputTokens);

for (const [name, model] of Object.entries(MODELS)) {
  const settings = { model, maxRetries: 0 };
  await step(`generateText (${name})`, async () => {
    const { text, totalUsage } = await generateText({ ...settings, prompt: 'What is 12 * 7?' });
    return { text, credits: priceOf(totalUsage) };
  });
  await step(`streamText (${name})`, async () => {
    const result = streamText({ ...settings, prompt: 'What is 12 * 7?' });
    return { text: await result.text, credits: priceOf(await result.totalUsage) };
  });
  await step(`generateText with a tool (${name})`, async () => {
    const cities = [];
    const execute = async ({ city }) => {
      cities.push(city);
      return 'Sunny';
    };
    const weather = tool({ description: 'The weather in a city', inputSchema, execute });
    const prompt = 'How is the weather in Bern?';
    const { text, totalUsage } = await generateText({
      ...settings,
      prompt,
      tools: { weather },
      stopWhen: isStepCount(2),
    });
    return { text, cities, credits: priceOf(totalUsage) };
  });
}

await step('embed (@ai-sdk/openai)', async () => {
  const { embedding, usage } = await embed({ model: openai.embedding('sandbox/embedding'), value: 'a gate' });
  return { length: embedding.length, credits: (usage.tokens * 0.1) / 1000 };
});

await step('generateImage (@ai-sdk/openai)', async () => {
  const facade = createOpenAI({ baseURL: `${origin}/openai/v1`, apiKey });
  const { image } = await generateImage({ model: facade.image('sandbox/image'), prompt: 'a gate', size: '256x256' });
  return { mediaType: image.mediaType, credits: 10 };
});
