import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  AccessDeniedException,
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InvokeModelCommand,
  ThrottlingException,
  ValidationException,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { BedrockEmulator, messageOf, refusal, streamAnswer } from './emulator.ts';

const KEY = 'bearer-key';
const ACCESS_KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI' };
const MODEL = 'us.amazon.nova-lite-v1:0';

describe('the vendor’s own library takes the emulator for the vendor', () => {
  let emulator: BedrockEmulator;
  let signing: BedrockRuntimeClient;
  const clients: BedrockRuntimeClient[] = [];
  beforeEach(async () => {
    emulator = new BedrockEmulator({ apiKey: KEY, accessKey: ACCESS_KEY });
    await emulator.start();
    signing = clientOf(ACCESS_KEY.secret);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await emulator.stop();
  });

  function libraryOf(config: BedrockRuntimeClientConfig): BedrockRuntimeClient {
    const client = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: emulator.origin,
      maxAttempts: 1,
      // The second version of HTTP, its default, is for TLS.
      requestHandler: new NodeHttpHandler(),
      ...config,
    });
    clients.push(client);
    return client;
  }

  function clientOf(secretAccessKey: string): BedrockRuntimeClient {
    return libraryOf({ credentials: { accessKeyId: ACCESS_KEY.id, secretAccessKey } });
  }

  const ASKED: ConverseCommandInput = {
    modelId: MODEL,
    system: [{ text: 'Be brief' }],
    messages: [
      { role: 'user', content: [{ text: 'Look' }, { image: { format: 'png', source: { bytes: Buffer.from('p') } } }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'look', input: { at: 'it' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 't1', content: [{ text: 'A gate' }] } }] },
    ],
    inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['.'] },
    toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }] },
    additionalModelRequestFields: { top_k: 40 },
    serviceTier: { type: 'priority' },
  };

  test('a signed call with every field is answered', async () => {
    const { output, stopReason, usage } = await signing.send(new ConverseCommand(ASKED));
    assert.deepEqual(output?.message?.content, [{ text: 'Good day.' }]);
    assert.deepEqual([stopReason, usage?.inputTokens, usage?.cacheReadInputTokens], ['end_turn', 5, 2]);
  });

  test('an API key in place of a signature reads a stream', async () => {
    const bearing = libraryOf({ token: { token: KEY }, authSchemePreference: ['httpBearerAuth'] });
    const { stream = [] } = await bearing.send(new ConverseStreamCommand(ASKED));
    const events = await Array.fromAsync(stream);
    assert.equal(events.map(({ contentBlockDelta }) => contentBlockDelta?.delta?.text ?? '').join(''), 'Good day.');
    assert.equal(events.at(-1)?.metadata?.usage?.outputTokens, 2);
  });

  test('vectors of both families', async () => {
    const embed = async (modelId: string, body: object) => {
      const command = new InvokeModelCommand({ modelId, contentType: 'application/json', body: JSON.stringify(body) });
      return JSON.parse((await signing.send(command)).body.transformToString());
    };
    const titan = await embed('amazon.titan-embed-text-v2:0', { inputText: 'a', dimensions: 4 });
    assert.equal(titan.embedding.length, 4);
    const cohere = await embed('cohere.embed-english-v3', { texts: ['a', 'b'], input_type: 'search_document' });
    assert.equal(cohere.embeddings.length, 2);
  });

  test('each refusal is an error of its own kind, in a stream too', async () => {
    const ask = async (fields: Partial<ConverseCommandInput> = {}, by = signing) =>
      by.send(new ConverseCommand({ ...ASKED, ...fields }));
    await assert.rejects(ask({}, clientOf('another')), AccessDeniedException);
    await assert.rejects(ask({ toolConfig: undefined }), ValidationException);
    await assert.rejects(ask({ messages: [] }), ValidationException);
    emulator.script({ kind: 'instead', ...refusal(429, 'ThrottlingException', 'Too many requests') });
    await assert.rejects(ask(), ThrottlingException);
    const start = messageOf('event', 'messageStart', { role: 'assistant' });
    const cut = messageOf('exception', 'throttlingException', { message: 'Too many tokens' });
    emulator.script({ kind: 'instead', ...streamAnswer([start, cut]) });
    const { stream = [] } = await signing.send(new ConverseStreamCommand(ASKED));
    await assert.rejects(Array.fromAsync(stream), { name: 'ThrottlingException' });
  });
});
