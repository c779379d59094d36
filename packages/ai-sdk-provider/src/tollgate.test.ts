import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import {
  APICallError,
  embed,
  generateImage,
  generateSpeech,
  generateText,
  jsonSchema,
  Output,
  streamText,
  tool,
} from 'ai';
import { exampleProgram, linkedGateway, writeProgram } from '../../../test/support/client-programs.ts';
import type { Gateway, NewCaller } from '../../../test/support/gateway.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller, spentInTheEnd } from '../../../test/support/paid-calls.ts';
import { workFolder } from '../../../test/support/postgres.ts';
import { createTollgate } from './index.ts';

let gateway: Gateway;
before(async () => {
  gateway = await linkedGateway();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const modelsOf = ({ key }: Pick<NewCaller, 'key'>) => createTollgate({ baseURL: gateway.url, apiKey: key });

/** What was told in the provider metadata. */
function creditsIn(metadata: Readonly<Record<string, unknown>> | undefined): unknown {
  return Object(metadata?.tollgate).credits;
}

test('the examples of the README run one after the other, and do what they say', async (t) => {
  const folder = workFolder(t);
  const { key } = await paidCaller(gateway);
  const code = exampleProgram('packages/ai-sdk-provider/README.md', gateway.url);
  const program = writeProgram(folder, code, ['ai-sdk-provider'], ['ai']);
  const env = { ...process.env, TOLLGATE_KEY: key };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder, env });
  assert.match(stdout, /84.* for [\d.]+ credits\n/);
  assert.match(stdout, /is open.* in [\d.]+ s\n2\n$/i);
  assert.equal(readFileSync(join(folder, 'gate.png')).toString('latin1', 1, 4), 'PNG');
  assert.equal(readFileSync(join(folder, 'gate.mp4')).toString('latin1', 4, 8), 'ftyp');
});

test('a stream tells what it cost, tools are called, and output has its schema', async () => {
  const caller = await paidCaller(gateway);
  const model = modelsOf(caller)('sandbox/chat');
  const streamed = streamText({ model, prompt: 'What is 3 * 3?' });
  assert.match(await streamed.text, /9/);
  assert.equal(creditsIn(await streamed.providerMetadata), await spentInTheEnd(gateway, caller));
  const schema = jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  });
  const { toolCalls } = await generateText({
    model,
    prompt: 'The weather in Bern?',
    tools: { weather: tool({ inputSchema: schema }) },
    toolChoice: 'required',
  });
  assert.equal(toolCalls[0]?.toolName, 'weather');
  const { output } = await generateText({ model, prompt: 'A city.', output: Output.object({ schema }) });
  assert.equal(typeof output.city, 'string');
});

test('a picture in the prompt is edited; several are made by one job', async () => {
  const caller = await paidCaller(gateway);
  const model = modelsOf(caller).imageModel('sandbox/image');
  const images = [new Uint8Array(await picture('png', { width: 64, height: 64 }))];
  const edited = await generateImage({ model, prompt: { images, text: 'at night' }, size: '256x256' });
  assert.equal(edited.image.mediaType, 'image/png');
  const several = await generateImage({ model, prompt: 'a gate', n: 2, size: '256x256' });
  assert.equal(several.images.length, 2);
  assert.deepEqual(
    several.calls.map(({ providerMetadata }) => creditsIn(providerMetadata)),
    [20],
  );
  assert.match(JSON.stringify(several.image.providerMetadata), /"jobId":"job_/);
  assert.equal((await moneyOf(gateway, caller)).spent, 30);
  const { data } = (await gateway.call('GET', '/v1/jobs', { key: caller.key })).json;
  assert.equal(data.length, 2);
});

test('a refusal is an APICallError with the code and the request, and is not tried again', async () => {
  const models = modelsOf(await paidCaller(gateway));
  const calls = [
    () => generateImage({ model: models.imageModel('none'), prompt: 'a gate' }),
    () => generateSpeech({ model: models.speechModel('none'), text: 'Hello' }),
    () => embed({ model: models.embeddingModel('none'), value: 'a gate' }),
  ];
  for (const call of calls) {
    await assert.rejects(call(), (error) => {
      assert.ok(APICallError.isInstance(error), String(error));
      assert.deepEqual([error.statusCode, error.isRetryable], [404, false]);
      const { code, requestId } = error.data as Record<string, string>;
      assert.equal(code, 'model_not_found');
      assert.match(requestId ?? '', /^req_/);
      return true;
    });
  }
});

test('an abort ends the wait for a picture with its reason', async () => {
  const models = modelsOf(await paidCaller(gateway));
  const reason = new Error('the user has left');
  const asked = { model: models.imageModel('sandbox/image'), prompt: 'a gate', abortSignal: AbortSignal.abort(reason) };
  await assert.rejects(generateImage(asked), reason);
});

test('speech has the voice, the speed and the format that were asked for', async () => {
  const models = modelsOf(await paidCaller(gateway));
  const { audio } = await generateSpeech({
    model: models.speechModel('sandbox/speech'),
    text: 'The gate is open.',
    voice: 'slt',
    outputFormat: 'wav',
    speed: 1.5,
  });
  assert.deepEqual([audio.mediaType, Buffer.from(audio.uint8Array).toString('latin1', 0, 4)], ['audio/wav', 'RIFF']);
});
