import OpenAI, { toFile } from 'openai';
import { step } from './step.mjs';

// The address and the key come from the environment, as the library reads them.
const client = new OpenAI({ maxRetries: 0 });
const model = 'sandbox/chat';
const messages = [{ role: 'user', content: 'What is 12 * 7?' }];
const SENTENCE = 'The gate is open.';

await step('models.list', async () => {
  const models = await Array.fromAsync(client.models.list());
  return { ids: models.map(({ id }) => id) };
});

await step('models.retrieve', async () => client.models.retrieve(model));

await step('chat.completions.create', async () => {
  const { choices, usage } = await client.chat.completions.create({ model, messages });
  return { text: choices[0].message.content, credits: usage.credits };
});

await step('chat.completions.create (stream)', async () => {
  const stream_options = { include_usage: true };
  const stream = await client.chat.completions.create({ model, messages, stream: true, stream_options });
  const chunks = await Array.fromAsync(stream);
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  return { text, chunks: chunks.length, credits: chunks.at(-1).usage.credits };
});

await step('chat.completions.runTools', async () => {
  const cities = [];
  const weather = {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      parse: JSON.parse,
      function: ({ city }) => {
        cities.push(city);
        return 'Sunny';
      },
    },
  };
  let credits = 0;
  const question = [{ role: 'user', content: 'How is the weather in Bern?' }];
  const runner = client.chat.completions.runTools({ model, messages: question, tools: [weather] });
  runner.on('chatCompletion', ({ usage }) => {
    credits += usage.credits;
  });
  return { text: await runner.finalContent(), cities, credits };
});

await step('responses.create', async () => {
  const { output_text, usage } = await client.responses.create({ model, input: 'What is 12 * 7?' });
  return { text: output_text, credits: usage.credits };
});

await step('responses.stream', async () => {
  const stream = client.responses.stream({ model, input: 'What is 12 * 7?' });
  let deltas = '';
  stream.on('response.output_text.delta', ({ delta }) => {
    deltas += delta;
  });
  const { output_text, usage } = await stream.finalResponse();
  return { text: output_text, deltas, credits: usage.credits };
});

await step('embeddings.create', async () => {
  const { data, usage } = await client.embeddings.create({ model: 'sandbox/embedding', input: ['a gate', 'a toll'] });
  return {
    lengths: data.map(({ embedding }) => embedding.length),
    tokens: usage.prompt_tokens,
    credits: usage.credits,
  };
});

let picture;
await step('images.generate', async () => {
  const asked = { model: 'sandbox/image', prompt: 'a toll gate', size: '256x256' };
  const { data, usage } = await client.images.generate(asked);
  picture = Buffer.from(data[0].b64_json, 'base64');
  return { begins: picture.toString('latin1', 1, 4), credits: usage.credits };
});

await step('images.edit', async () => {
  const image = await toFile(picture, 'gate.png', { type: 'image/png' });
  const asked = { model: 'sandbox/image', prompt: 'the same at night', image, size: '256x256' };
  const { data, usage } = await client.images.edit(asked);
  return { begins: Buffer.from(data[0].b64_json, 'base64').toString('latin1', 1, 4), credits: usage.credits };
});

let video;
await step('videos.create', async () => {
  video = await client.videos.create({ model: 'sandbox/video', prompt: 'a gate opens', seconds: '2', size: '854x480' });
  return { status: video.status };
});

await step('videos.retrieve', async () => {
  while (video.status === 'queued' || video.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, 500));
    video = await client.videos.retrieve(video.id);
  }
  return { status: video.status, seconds: video.seconds, error: video.error };
});

await step('videos.downloadContent', async () => {
  const bytes = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer());
  return { box: bytes.toString('latin1', 4, 8) };
});

await step('videos.list', async () => ({ ids: (await Array.fromAsync(client.videos.list())).length }));

let file;
await step('files.create', async () => {
  file = await client.files.create({
    file: await toFile(picture, 'gate.png', { type: 'image/png' }),
    purpose: 'vision',
  });
  return { object: file.object, isWhole: file.bytes === picture.length };
});
await step('files.list', async () => ({
  ids: (await Array.fromAsync(client.files.list())).map(({ id }) => id === file.id),
}));
await step('files.retrieve', async () => ({ isSame: (await client.files.retrieve(file.id)).id === file.id }));
await step('files.delete', async () => ({ deleted: (await client.files.delete(file.id)).deleted }));

let sound;
await step('audio.speech.create', async () => {
  const asked = { model: 'sandbox/speech', voice: 'alloy', input: SENTENCE, response_format: 'wav' };
  sound = Buffer.from(await (await client.audio.speech.create(asked)).arrayBuffer());
  return { begins: sound.toString('latin1', 0, 4), characters: SENTENCE.length };
});

await step('audio.transcriptions.create', async () => {
  const recording = await toFile(sound, 'gate.wav', { type: 'audio/wav' });
  const { text, usage } = await client.audio.transcriptions.create({ model: 'sandbox/transcribe', file: recording });
  return { text, credits: usage.credits };
});
