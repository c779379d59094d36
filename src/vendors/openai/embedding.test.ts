import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainEmbedding } from '../../../test/support/plain-requests.ts';
import type { JsonObject } from '../../json.ts';
import type { EmbeddingRequest } from '../../schemas/index.ts';
import { base64Of } from '../emulator/vectors.ts';
import type { Embeddings, Upstream } from '../index.ts';
import { FAULTS, isFault, KEY, MARKER, withEmulator } from './emulator/calls.ts';
import { type EmbeddingServer, vectorFor } from './emulator/embeddings.ts';
import type { ERRORS, OpenAiEmulator, OpenAiOptions } from './emulator.ts';
import { work as vendor } from './work.ts';

const embedding = vendor.embedding ?? assert.fail('no embeddings');
const MODEL = 'text-embedding-3-small';

function withVectors(
  run: (emulator: OpenAiEmulator, upstream: Upstream) => Promise<void>,
  options: OpenAiOptions = {},
): Promise<void> {
  return withEmulator(options, (emulator, upstream) => run(emulator, { ...upstream, model: MODEL }));
}

const texts = (...list: string[]): EmbeddingRequest['input'] => ({ kind: 'texts', texts: list });
const tokens = (...lists: number[][]): EmbeddingRequest['input'] => ({ kind: 'tokens', lists });

function embed(fields: Partial<EmbeddingRequest>, upstream: Upstream): Promise<Embeddings> {
  const request = plainEmbedding(fields);
  embedding.check(request, upstream);
  return embedding.embed(request, upstream);
}

const sentTo = ({ requests }: OpenAiEmulator) => requests.map(({ bytes }) => JSON.parse(bytes.toString()));
const bytesFor = (input: string | number[], dimensions = 1536) =>
  Buffer.from(base64Of(vectorFor(input, dimensions)), 'base64');
const inputTokens = (count: number) => ({ inputTokens: count, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 });

test('base64 is asked for whatever the caller wants, and its bytes are the vectors', () =>
  withVectors(async (emulator, upstream) => {
    for (const encoding of ['float', 'base64'] as const) {
      const made = await embed({ input: texts('One', 'Another'), encoding, user: 'u1' }, upstream);
      assert.deepEqual(made, { vectors: [bytesFor('One'), bytesFor('Another')], usage: inputTokens(3) });
    }
    const body = { model: MODEL, input: ['One', 'Another'], encoding_format: 'base64', user: 'u1' };
    assert.deepEqual(sentTo(emulator), [body, body]);
    assert.equal(emulator.requests[0]?.path, '/v1/embeddings');
  }));

test('dimensions, tokens and fields that only some servers have are passed on', () =>
  withVectors(
    async (emulator, upstream) => {
      const made = await embed({ input: tokens([1, 2], [3]), dimensions: 4, extra: { truncate: true } }, upstream);
      assert.deepEqual(made.vectors, [bytesFor([1, 2], 4), bytesFor([3], 4)]);
      const [{ input, dimensions, truncate }] = sentTo(emulator);
      assert.deepEqual([input, dimensions, truncate], [[[1, 2], [3]], 4, true]);
    },
    { isLenient: true },
  ));

test('a server that gives numbers all the same is understood, and one that gives them in another order', () =>
  withVectors(async (emulator, upstream) => {
    const numbers = [
      [0.1, -2.5],
      [3e-8, 0],
    ];
    emulator.script({ kind: 'vectors', numbers, isFloat: true, isReversed: true });
    const { vectors } = await embed({ input: texts('One', 'Another') }, upstream);
    assert.deepEqual(
      vectors,
      numbers.map((each) => Buffer.from(base64Of(each), 'base64')),
    );
  }));

for (const [name, usage, expected] of [
  ['none', null, undefined],
  ['only a total', { total_tokens: 5 }, inputTokens(5)],
  ['what is no count', { prompt_tokens: -1 }, undefined],
] as const) {
  test(`usage: ${name}`, () =>
    withVectors(async (emulator, upstream) => {
      emulator.script({ kind: 'vectors', usage });
      assert.deepEqual((await embed({}, upstream)).usage, expected);
    }));
}

test('what one call cannot take goes in several, in order, and the usage is the sum', () =>
  withVectors(async (emulator, upstream) => {
    const long = 'word '.repeat(5_000);
    const list = Array.from({ length: 100 }, (_, at) => `${at} ${long}`);
    const { vectors, usage } = await embed({ input: texts(...list), dimensions: 2 }, upstream);
    assert.deepEqual(
      vectors,
      list.map((text) => bytesFor(text, 2)),
    );
    assert.ok(emulator.requests.length > 1);
    const sent: string[] = sentTo(emulator).flatMap(({ input }) => input);
    assert.deepEqual(sent, list);
    assert.equal(
      usage?.inputTokens,
      list.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0),
    );
  }));

test('when a later call fails, all fails', () =>
  withVectors(
    async (emulator, upstream) => {
      emulator.script({ kind: 'vectors' }, { kind: 'error', error: 'throttled' });
      const many = Array.from({ length: 129 }, (_, at) => String(at));
      await assert.rejects(embed({ input: texts(...many) }, { ...upstream, dialect: 'voyage' }), isFault('rate'));
      assert.equal(emulator.requests.length, 2);
    },
    { embeds: 'voyage' },
  ));

describe('servers with ways of their own', () => {
  const BASE64 = { encoding_format: 'base64' };
  const LONG = { ...BASE64, dimensions: 8 };
  /** What a request for 8 numbers by user u1 becomes; `input` and `dimensions` where they cannot be asked for. */
  const SERVERS: readonly (readonly [EmbeddingServer, JsonObject, JsonObject, lacks: readonly string[]])[] = [
    ['mistral', { output_dtype: 'float' }, { ...BASE64, output_dimension: 8 }, ['input', 'input_type']],
    [
      'voyage',
      { input_type: 'query' },
      { ...BASE64, output_dimension: 8, input_type: 'query', truncation: false },
      ['input'],
    ],
    ['voyage', { truncation: true }, { ...BASE64, output_dimension: 8, truncation: true }, ['input']],
    [
      'jina',
      { input_type: 'document' },
      { embedding_type: 'base64', dimensions: 8, task: 'retrieval.passage' },
      ['input'],
    ],
    ['together', {}, {}, ['input', 'dimensions', 'input_type']],
    ['openrouter', { input_type: 'query' }, { ...LONG, user: 'u1', input_type: 'query' }, ['input']],
    ['fireworks', {}, LONG, ['input', 'input_type']],
    ['dashscope', {}, { dimensions: 8 }, ['input', 'input_type']],
    ['vllm', {}, { ...LONG, user: 'u1' }, ['input_type']],
    ['ollama', {}, LONG, ['input', 'input_type']],
    ['llama.cpp', {}, BASE64, ['dimensions', 'input_type']],
    ['lm-studio', {}, BASE64, ['input', 'dimensions', 'input_type']],
    ['tei', {}, { ...LONG, user: 'u1' }, ['input_type']],
  ];
  const CHECKS: Readonly<Record<string, Partial<EmbeddingRequest>>> = {
    input: { input: tokens([1]) },
    dimensions: { dimensions: 8 },
    input_type: { extra: { input_type: 'query' } },
  };

  for (const [dialect, extra, expected, lacks] of SERVERS) {
    test(`${dialect} is asked in its own words ${JSON.stringify(extra)}, and takes no ${lacks.join(', ')}`, () =>
      withVectors(
        async (emulator, upstream) => {
          const to = { ...upstream, dialect };
          const dimensions = lacks.includes('dimensions') ? undefined : 8;
          const made = await embed({ input: texts('One'), dimensions, user: 'u1', extra }, to);
          assert.deepEqual(made, { vectors: [bytesFor('One', dimensions)], usage: inputTokens(1) });
          assert.deepEqual(sentTo(emulator), [{ model: MODEL, input: ['One'], ...expected }]);
          for (const [param, fields] of Object.entries(CHECKS)) {
            const check = () => embedding.check(plainEmbedding(fields), to);
            if (lacks.includes(param)) assert.throws(check, { code: 'unsupported_parameter', param });
            else assert.doesNotThrow(check);
          }
        },
        { embeds: dialect },
      ));
  }

  test('tei is sent as many texts as it takes at once, and its refusals have no wrapper', () =>
    withVectors(
      async (emulator, upstream) => {
        const to = { ...upstream, dialect: 'tei' };
        const many = Array.from({ length: 70 }, (_, at) => String(at));
        assert.equal((await embed({ input: texts(...many), dimensions: 2 }, to)).vectors.length, 70);
        assert.deepEqual(
          sentTo(emulator).map(({ input }) => input.length),
          [32, 32, 6],
        );
        for (const [error, fault] of [
          ['throttled', 'rate'],
          ['unprocessable', 'client'],
          ['broken', 'server'],
        ] as const) {
          emulator.script({ kind: 'error', error });
          await assert.rejects(embed({}, to), isFault(fault));
        }
        emulator.script({ kind: 'raw', status: 424, body: '{"message":"x","code":424,"type":"backend"}' });
        await assert.rejects(embed({}, to), isFault('server'));
      },
      { embeds: 'tei', quirks: { errorShape: 'bare' } },
    ));

  test('dashscope is sent ten texts at once', () =>
    withVectors(
      async (emulator, upstream) => {
        const many = Array.from({ length: 23 }, (_, at) => String(at));
        const { vectors } = await embed({ input: texts(...many) }, { ...upstream, dialect: 'dashscope' });
        assert.equal(vectors.length, 23);
        assert.deepEqual(
          sentTo(emulator).map(({ input }) => input.length),
          [10, 10, 3],
        );
      },
      { embeds: 'dashscope' },
    ));

  test('the dialect may be that of the host', () => {
    const upstream = { model: MODEL, address: 'https://api.voyageai.com/v1', dialect: undefined };
    assert.throws(() => embedding.check(plainEmbedding({ input: tokens([1]) }), upstream), { param: 'input' });
    embedding.check(plainEmbedding({ input: tokens([1]) }), { ...upstream, address: 'http://vllm.example:8000/v1' });
  });
});

for (const [field, value] of [
  ['output_dtype', 'int8'],
  ['embedding_type', 'binary'],
  ['stream', true],
] as const) {
  test(`${field} of another kind is refused by name`, () => {
    const upstream = { model: MODEL, address: 'http://localhost/v1', dialect: undefined };
    const refusal = { code: 'unsupported_parameter', param: field };
    assert.throws(() => embedding.check(plainEmbedding({ extra: { [field]: value } }), upstream), refusal);
  });
}

describe('every refusal of the vendor is a fault', () => {
  for (const error of Object.keys(FAULTS) as (keyof typeof ERRORS)[]) {
    test(`${error} is ${FAULTS[error]}`, () =>
      withVectors(async (emulator, upstream) => {
        emulator.script({ kind: 'error', error });
        await assert.rejects(embed({}, upstream), isFault(FAULTS[error]));
      }));
  }

  test('a field, a model and a key that the vendor does not take', () =>
    withVectors(
      async (_emulator, upstream) => {
        await assert.rejects(embed({ extra: { odd: 1 } }, upstream), isFault('client'));
        await assert.rejects(embed({}, { ...upstream, model: 'other' }), isFault('config'));
        await assert.rejects(embed({}, { ...upstream, apiKey: 'sk-other' }), isFault('account'));
        await assert.rejects(embed({ input: texts('x'.repeat(40_000)) }, upstream), isFault('client'));
      },
      { apiKey: KEY, models: [MODEL] },
    ));
});

const item = (index: unknown, vector: unknown) => ({ object: 'embedding', index, embedding: vector });
for (const [name, data] of [
  ['one index twice', [item(0, [1]), item(0, [2])]],
  ['an index of none', [item(0, [1]), item(2, [2])]],
  ['an index that is none', [item('0', [1]), item(1, [2])]],
  ['an item without a vector', [item(0, [1]), { index: 1 }]],
] as const) {
  test(`an answer with ${name} is garbled`, () =>
    withVectors(async (emulator, upstream) => {
      emulator.script({ kind: 'raw', body: JSON.stringify({ object: 'list', data, model: MARKER }) });
      await assert.rejects(embed({ input: texts('One', 'Another') }, upstream), isFault('garbled'));
    }));
}
