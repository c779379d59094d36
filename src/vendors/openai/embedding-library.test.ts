import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { KEY } from './emulator/calls.ts';
import { vectorFor } from './emulator/embeddings.ts';
import { OpenAiEmulator } from './emulator.ts';

// The vendor's own client library against the emulator, which is so held to the vendor's own types and ways.

describe('the vendor’s own client library', () => {
  const emulator = new OpenAiEmulator({ apiKey: KEY });
  let client: OpenAI;
  before(async () => {
    await emulator.start();
    client = new OpenAI({ apiKey: KEY, baseURL: emulator.url, maxRetries: 0 });
  });
  after(() => emulator.stop());
  const ASKED = { model: 'text-embedding-3-small', input: ['One', 'Another'] };

  test('gets the same vectors by default, which is base64, and as numbers', async () => {
    const { data, usage } = await client.embeddings.create(ASKED);
    const { data: floats } = await client.embeddings.create({ ...ASKED, encoding_format: 'float' });
    assert.deepEqual(data, floats);
    assert.deepEqual(
      data.map(({ embedding }) => embedding),
      ASKED.input.map((text) => vectorFor(text, 1536)),
    );
    assert.deepEqual(usage, { prompt_tokens: 3, total_tokens: 3 });
  });

  test('may ask with tokens, for fewer numbers, and for a user', async () => {
    const { data } = await client.embeddings.create({ ...ASKED, input: [1, 2, 3], dimensions: 5, user: 'u1' });
    assert.deepEqual(
      data.map(({ embedding }) => embedding.length),
      [5],
    );
  });

  const REFUSED: readonly [name: string, fields: object, param: string][] = [
    ['no input', { input: undefined }, 'input'],
    ['an empty input', { input: '' }, 'input'],
    ['an empty input in a list', { input: ['a', ''] }, 'input'],
    ['too many inputs', { input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    ['too many tokens', { input: Array.from({ length: 40 }, () => 'a'.repeat(32_000)) }, 'input'],
    ['an input that is too long', { input: 'a'.repeat(32_772) }, 'input'],
    ['another encoding', { encoding_format: 'hex' }, 'encoding_format'],
    ['no numbers', { dimensions: 0 }, 'dimensions'],
    ['dimensions of a model that has none', { model: 'text-embedding-ada-002', dimensions: 5 }, 'dimensions'],
    ['an unknown field', { input_type: 'query' }, 'input_type'],
  ];
  for (const [name, fields, param] of REFUSED) {
    test(`is refused ${name}`, () =>
      assert.rejects(client.post('/embeddings', { body: { ...ASKED, ...fields } }), { status: 400, param }));
  }
});
