import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Cohere, CohereClientV2, CohereError } from 'cohere-ai';
import { numbersOf } from '../emulator/vectors.ts';
import { CohereEmulator } from './emulator.ts';

const KEY = 'co-key';
const HELLO = [{ role: 'user', content: 'Hello' }] as const;
const TOOLS = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] as const;

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new CohereEmulator(KEY);
  const clientOf = (token: string) => new CohereClientV2({ token, environment: emulator.url, maxRetries: 0 });
  let client: CohereClientV2;
  before(async () => {
    await emulator.start();
    client = clientOf(KEY);
  });
  after(() => emulator.stop());

  test('a message is answered', async () => {
    const answer = await client.chat({
      model: 'command-a',
      messages: [...HELLO],
      temperature: 0.5,
      p: 0.5,
      maxTokens: 9,
      stopSequences: ['x'],
      responseFormat: { type: 'json_object', jsonSchema: { type: 'object' } },
      thinking: { type: 'enabled' },
    });
    assert.deepEqual(answer.message.content?.at(-1), { type: 'text', text: 'Good day.' });
    assert.equal(answer.finishReason, 'COMPLETE');
    assert.deepEqual(answer.usage?.billedUnits, { inputTokens: 5, outputTokens: 2 });
  });

  test('a tool is called, whole and in a stream', async () => {
    const request: Cohere.V2ChatStreamRequest = {
      model: 'command-a',
      messages: [...HELLO],
      tools: [...TOOLS],
      toolChoice: 'REQUIRED',
    };
    const { message } = await client.chat({ ...request, toolChoice: 'REQUIRED', strictTools: true });
    assert.equal(message.toolCalls?.[0]?.function?.arguments, '{"at":1}');
    const types: string[] = [];
    for await (const event of await client.chatStream(request)) types.push(event.type);
    assert.deepEqual(types.slice(0, 3), ['message-start', 'tool-plan-delta', 'tool-call-start']);
    assert.equal(types.at(-1), 'message-end');
  });

  test('texts become vectors', async () => {
    const answer = await client.embed({
      model: 'embed-v4.0',
      texts: ['One'],
      inputType: 'search_query',
      embeddingTypes: ['float'],
      outputDimension: 256,
      truncate: 'NONE',
    });
    assert.deepEqual(answer.embeddings.float, [numbersOf('One', 256)]);
    assert.equal(answer.meta?.billedUnits?.inputTokens, 3);
  });

  test('a wrong key is refused', async () => {
    const refused = clientOf('other').chat({ model: 'command-a', messages: [...HELLO] });
    await assert.rejects(refused, (error) => error instanceof CohereError && error.statusCode === 401);
  });
});
