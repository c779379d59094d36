import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import OpenAI from 'openai';
import { request } from 'undici';
import { base64Of } from '../src/vendors/emulator/vectors.ts';
import { vectorFor as geminiVector } from '../src/vendors/gemini/emulator/embeddings.ts';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { vectorFor } from '../src/vendors/openai/emulator/embeddings.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';

const PATH = '/v1/embeddings';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const PRICING = { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 0 } };

const first = new OpenAiEmulator({ apiKey: 'sk-first', marker: 'mark-first' });
const second = new GeminiEmulator({ apiKey: 'key-second', marker: 'mark-second' });
let gateway: Gateway;
let caller: NewCaller;
before(async () => {
  await Promise.all([first.start(), second.start()]);
  gateway = await Gateway.start();
  const model = (id: string, upstreams: readonly string[]) =>
    tokenModel(id, upstreams, { endpoints: ['embeddings'], pricing: PRICING });
  await gateway.putConfig({
    upstreams: [
      { id: 'first', vendor: 'openai', base_url: first.url, api_key: 'sk-first', priority: 2 },
      { id: 'second', vendor: 'gemini', base_url: second.url, api_key: 'key-second', priority: 1 },
      { id: 'foreign', vendor: 'openai', base_url: first.url, api_key: 'sk-first', dialect: 'mistral' },
      { id: 'small', vendor: 'openai', base_url: first.url, api_key: 'sk-first', embedding_inputs_max: 3 },
      { id: 'home', vendor: 'sandbox' },
    ],
    models: [
      model('house/first', ['first']),
      model('house/second', ['second']),
      model('house/both', ['first', 'second']),
      model('house/foreign', ['foreign']),
      model('house/small', ['small']),
      model('house/home', ['home']),
      tokenModel('house/chat', ['first']),
    ],
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all([first.stop(), second.stop()]);
});
beforeEach(async () => {
  caller = await paidCaller(gateway);
  first.requests.length = 0;
  second.requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

function ask(body: Fields, { key }: NewCaller = caller): Promise<Answer> {
  return gateway.call('POST', PATH, { key, body: { model: 'house/first', input: 'Hi', ...body } });
}

function floatsIn(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

const vectorsOf = ({ json }: Answer) => json.data.map(({ embedding }: { embedding: unknown }) => embedding);

test('an answer has the common shape, the caller’s name of the model, and what it cost', async () => {
  const { status, json, headers } = await ask({ input: ['Hello there', 'Another'], dimensions: 3, user: 'u1' });
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^application\/json/);
  assert.deepEqual(
    [json.object, json.model, json.usage],
    ['list', 'house/first', { prompt_tokens: 5, total_tokens: 5, credits: 0.005 }],
  );
  assert.deepEqual(
    json.data.map((item: Fields) => [item.object, item.index]),
    [
      ['embedding', 0],
      ['embedding', 1],
    ],
  );
  const { dimensions, user, encoding_format } = JSON.parse(String(first.requests[0]?.bytes));
  assert.deepEqual([dimensions, user, encoding_format], [3, 'u1', 'base64']);
});

for (const [model, expected] of [
  ['house/first', (text: string) => vectorFor(text, 16)],
  ['house/second', (text: string) => geminiVector(text)],
] as const) {
  test(`${model}: base64 is the upstream’s float32 bit by bit, and numbers are the same float32`, async () => {
    const input = ['Hello there', 'Another'];
    const base64 = vectorsOf(await ask({ model, input, encoding_format: 'base64' })).map(floatsIn);
    assert.deepEqual(base64, input.map(expected));
    for (const more of [{}, { encoding_format: 'float' }, { encoding_format: null }]) {
      const floats: number[][] = vectorsOf(await ask({ model, input, ...more }));
      assert.deepEqual(
        floats.map((vector) => vector.map(Math.fround)),
        base64,
      );
    }
  });
}

test('numbers of every size, and both zeros, come through whole in either form', async () => {
  const numbers = [
    [0, -0, 1, -1, 0.1, 1 / 3, 1e-45, 1.1754944e-38, 3.4028235e38, -5e-7, 16_777_217, 123_456.79].map(Math.fround),
  ];
  for (const isFloat of [false, true]) {
    first.script({ kind: 'vectors', numbers, isFloat }, { kind: 'vectors', numbers, isFloat });
    const sent = isFloat ? numbers.map((vector) => vector.map((value) => (value === 0 ? 0 : value))) : numbers;
    const [base64] = vectorsOf(await ask({ encoding_format: 'base64' }));
    assert.deepEqual(floatsIn(base64), sent[0]);
    const [floats] = vectorsOf(await ask({}));
    assert.deepEqual(floats.map(Math.fround), sent[0]);
  }
});

describe('an upstream that takes few inputs at once', () => {
  const texts = Array.from({ length: 8 }, (_, at) => `text number ${at}`);
  const small = (body: Fields = {}) => ask({ model: 'house/small', input: texts, ...body });

  test('is asked in parts, answered whole and charged once, as one call would be', async () => {
    const whole = await ask({ model: 'house/first', input: texts });
    const spent = async () => (await moneyOf(gateway, caller)).spent;
    const once = await spent();
    first.requests.length = 0;
    const { status, json, text } = await small();
    assert.equal(status, 200, text);
    assert.deepEqual(json.data, whole.json.data);
    assert.deepEqual(json.usage, whole.json.usage);
    assert.equal(await spent(), 2 * once);
    const sizes = first.requests.map(({ bytes }) => JSON.parse(String(bytes)).input.length);
    assert.deepEqual(
      sizes.toSorted((a: number, b: number) => a - b),
      [2, 3, 3],
    );
  });

  test('fails as a whole when a part fails, and costs nothing', async () => {
    first.script({ kind: 'vectors' }, { kind: 'raw', status: 400, body: '{"error":{"message":"no"}}' });
    const { status } = await small();
    assert.equal(status, 400);
    assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
  });
});

test('an input that is missing is named by its field', async () => {
  const { json } = await ask({ input: [] });
  assert.deepEqual(
    [json.error.code, json.error.param, json.error.message],
    ['missing_input', 'input', 'Give "input": a text or a list of texts.'],
  );
});

describe('what may be an input', () => {
  for (const [name, input, sent] of [
    ['a text', 'Hi', ['Hi']],
    ['a list of texts', ['Hi', 'Ho'], ['Hi', 'Ho']],
    ['a list of tokens', [1, 2, 3], [[1, 2, 3]]],
    ['a list of lists of tokens', [[1, 2], [3]], [[1, 2], [3]]],
  ] as const) {
    test(name, async () => {
      const { status, json } = await ask({ input });
      assert.deepEqual([status, json.data.length], [200, sent.length]);
      assert.deepEqual(JSON.parse(String(first.requests[0]?.bytes)).input, sent);
    });
  }

  for (const [name, body, code, param] of [
    ['no model', { model: undefined }, 'missing_model', 'model'],
    ['none', { input: undefined }, 'missing_input', 'input'],
    ['null', { input: null }, 'missing_input', 'input'],
    ['an empty text', { input: '' }, 'missing_input', 'input'],
    ['an empty list', { input: [] }, 'missing_input', 'input'],
    ['a number', { input: 7 }, 'invalid_parameter', 'input'],
    ['an object', { input: {} }, 'invalid_parameter', 'input'],
    ['an empty text in a list', { input: ['a', ''] }, 'invalid_parameter', 'input[1]'],
    ['a number among texts', { input: ['a', 1] }, 'invalid_parameter', 'input[1]'],
    ['a text among tokens', { input: [1, 'a'] }, 'invalid_parameter', 'input[1]'],
    ['an empty list of tokens', { input: [[1], []] }, 'invalid_parameter', 'input[1]'],
    ['a token that is none', { input: [[1], [2, -1]] }, 'invalid_parameter', 'input[1][1]'],
    ['half a token', { input: [1, 2.5] }, 'invalid_parameter', 'input[1]'],
    ['another encoding', { encoding_format: 'hex' }, 'invalid_parameter', 'encoding_format'],
    ['no numbers', { dimensions: 0 }, 'invalid_parameter', 'dimensions'],
    ['a user that is no text', { user: 7 }, 'invalid_parameter', 'user'],
    ['numbers of another kind', { output_dtype: 'int8' }, 'unsupported_parameter', 'output_dtype'],
    ['a model that only chats', { model: 'house/chat' }, 'model_not_found', 'model'],
  ] as const) {
    test(`${name} is refused by name, and nothing is asked for or held`, async () => {
      const { json } = await ask(body);
      assert.deepEqual([json.error.code, json.error.param], [code, param], json.error.message);
      assert.equal(first.requests.length, 0);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });
  }

  for (const model of ['house/second', 'house/foreign', 'house/home']) {
    test(`${model}: tokens of another vocabulary are refused by name, and nothing is held`, async () => {
      const { status, json } = await ask({ model, input: [1, 2] });
      assert.deepEqual([status, json.error.code, json.error.param], [400, 'unsupported_parameter', 'input']);
      assert.equal(first.requests.length + second.requests.length, 0);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });
  }

  test('tokens go to the one of two upstreams that takes them', async () => {
    first.script({ kind: 'error', error: 'broken' });
    assert.equal((await ask({ model: 'house/both', input: [1, 2] })).status, 200);
    assert.deepEqual([first.requests.length, second.requests.length], [2, 0]);
  });
});

describe('bounds', () => {
  const texts = (count: number) => Array.from({ length: count }, (_, at) => `Text ${at}`);

  for (const model of ['house/first', 'house/second', 'house/home']) {
    test(`${model}: 2,048 inputs are served in order, and one more is refused`, async () => {
      const { status, json } = await ask({ model, input: texts(2048), dimensions: 16 });
      assert.equal(status, 200);
      assert.deepEqual(
        json.data.map(({ index }: { index: number }) => index),
        texts(2048).map((_, at) => at),
      );
      if (model === 'house/first') {
        const last = json.data.at(-1).embedding.map(Math.fround);
        assert.deepEqual(last, vectorFor('Text 2047', 16));
      }
      const refused = await ask({ model, input: texts(2049) });
      assert.deepEqual([refused.status, refused.json.error.param], [400, 'input']);
    });
  }

  const BYTES_MAX = 8 * 1024 * 1024;
  const bodyOf = (bytes: number) => {
    const frame = JSON.stringify({ model: 'house/first', dimensions: 2, input: [''] }).length;
    // Texts short enough for the upstream, which is strict, with the comma and the quotes of each.
    const whole = 'a'.repeat(30_000 - 3);
    const count = Math.floor((bytes - frame) / 30_000);
    const rest = 'a'.repeat(bytes - frame - count * 30_000);
    const input = [...Array.from({ length: count }, () => whole), rest];
    return JSON.stringify({ model: 'house/first', dimensions: 2, input });
  };

  test('a body of 8 MiB is served in as many calls as the upstream needs, and one byte more is refused', async () => {
    const body = bodyOf(BYTES_MAX);
    assert.equal(body.length, BYTES_MAX);
    const { key } = await paidCaller(gateway, 5000);
    const { status, json } = await gateway.call('POST', PATH, { key, raw: body });
    assert.equal(status, 200);
    assert.ok(first.requests.length > 1);
    assert.equal(json.data.length, JSON.parse(body).input.length);
    const refused = await gateway.call('POST', PATH, { key, raw: bodyOf(BYTES_MAX + 1) });
    assert.deepEqual([refused.status, refused.json.error.code], [413, 'body_too_large']);
  });

  test('300,000 tokens in one body are served', async () => {
    const list = Array.from({ length: 5_000 }, (_, at) => at);
    const { status, json } = await ask({ input: Array.from({ length: 60 }, () => list), dimensions: 2 });
    assert.deepEqual([status, json.usage.prompt_tokens], [200, 300_000]);
    const refused = await ask({ input: Array.from({ length: 61 }, () => list), dimensions: 2 });
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_json']);
  });

  test('2,048 vectors of 1,536 numbers come through whole in either form', async () => {
    const vector = vectorFor('A toll gate', 1536);
    const numbers = Array.from({ length: 2048 }, (_, at) => [at, ...vector.slice(1)]);
    const read = async (encoding_format: string): Promise<(string | number[])[]> => {
      first.script({ kind: 'vectors', numbers });
      const answer = await request(gateway.url + PATH, {
        method: 'POST',
        headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'house/first', input: texts(2048), encoding_format }),
      });
      const { data } = (await answer.body.json()) as { data: { embedding: string | number[] }[] };
      return data.map(({ embedding }) => embedding);
    };
    assert.deepEqual(await read('base64'), numbers.map(base64Of));
    const floats = await read('float');
    assert.equal(floats.length, 2048);
    for (const at of [0, 1023, 2047])
      assert.deepEqual(
        Array.from<unknown, number>(floats[at] ?? [], (value) => Math.fround(Number(value))),
        numbers[at],
      );
  });
});

describe('the library openai', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: caller.key, maxRetries: 0 });

  for (const model of ['sandbox/embedding', 'house/x']) {
    test(`${model}: gets the same vectors by default, which is base64, and as numbers`, async () => {
      await gateway.putConfig({
        upstreams: [{ id: 'home', vendor: 'sandbox' }],
        models: [tokenModel(model, ['home'], { endpoints: ['embeddings'], pricing: PRICING })],
      });
      const input = ['Our ferry crosses the river', 'A river crossing by ferry', 'Two eggs and some flour'];
      const { data, usage } = await client().embeddings.create({ model, input });
      const floats = await client().embeddings.create({ model, input, encoding_format: 'float' });
      assert.deepEqual(
        floats.data.map(({ embedding }) => embedding.map(Math.fround)),
        data.map(({ embedding }) => embedding),
      );
      assert.equal(data[0]?.embedding.length, 1024);
      assert.equal(usage.prompt_tokens, usage.total_tokens);
      const near = (one: number, other: number) =>
        data[one]?.embedding.reduce((sum, value, at) => sum + value * (data[other]?.embedding[at] ?? 0), 0) ?? 0;
      assert.ok(near(0, 1) > near(0, 2) + 0.2);
    });
  }

  test('is told what is wrong', async () => {
    await assert.rejects(client().embeddings.create({ model: 'none', input: 'x' }), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      return error.code === 'model_not_found';
    });
  });
});
