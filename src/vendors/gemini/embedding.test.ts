import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import { plainEmbedding } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import type { EmbeddingRequest } from '../../schemas/index.ts';
import { base64Of } from '../emulator/vectors.ts';
import { type Embeddings, type Upstream, UpstreamPools } from '../index.ts';
import { isFault, KEY, MARKER, upstreamAt } from './emulator/calls.ts';
import { vectorFor } from './emulator/embeddings.ts';
import { type ERRORS, GeminiEmulator } from './emulator.ts';
import { work as gemini } from './work.ts';

const embedding = gemini.embedding ?? assert.fail('no embeddings');
const MODEL = 'gemini-embedding-001';
const pools = new UpstreamPools();
let emulator: GeminiEmulator;

beforeEach(async () => {
  emulator = new GeminiEmulator({ apiKey: KEY, marker: MARKER, models: [MODEL] });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

const texts = (...list: string[]): EmbeddingRequest['input'] => ({ kind: 'texts', texts: list });
const bytesFor = (text: string, dimensions?: number) => Buffer.from(base64Of(vectorFor(text, dimensions)), 'base64');
const upstreamOf = (changes: Partial<Upstream> = {}) => upstreamAt(emulator, pools, { model: MODEL, ...changes });

function embed(fields: Partial<EmbeddingRequest>, upstream = upstreamOf()): Promise<Embeddings> {
  const request = plainEmbedding(fields);
  embedding.check(request, upstream);
  return embedding.embed(request, upstream);
}

test('a batch is asked for in the vendor’s own shape, and its numbers become the float32 that they are', async () => {
  const extra = { input_type: 'query' };
  const made = await embed({ input: texts('One', 'Another'), dimensions: 256, user: 'u1', extra });
  assert.deepEqual(made, { vectors: [bytesFor('One', 256), bytesFor('Another', 256)], usage: undefined });
  const [{ path, bytes } = assert.fail()] = emulator.requests;
  assert.equal(path, `/v1beta/models/${MODEL}:batchEmbedContents`);
  const one = (text: string) => ({
    model: `models/${MODEL}`,
    content: { parts: [{ text }] },
    taskType: 'RETRIEVAL_QUERY',
    outputDimensionality: 256,
  });
  assert.deepEqual(JSON.parse(bytes.toString()), { requests: [one('One'), one('Another')] });
});

test('no more is asked for than the caller asks', async () => {
  const { vectors } = await embed({});
  assert.deepEqual(vectors, [bytesFor('Hi')]);
  const { requests } = JSON.parse(String(emulator.requests[0]?.bytes));
  assert.deepEqual(requests, [{ model: `models/${MODEL}`, content: { parts: [{ text: 'Hi' }] } }]);
});

for (const [count, calls] of [
  [100, 1],
  [101, 2],
  [250, 3],
] as const) {
  test(`${count} inputs are ${calls} calls, in order`, async () => {
    const list = Array.from({ length: count }, (_, at) => `Text ${at}`);
    const { vectors } = await embed({ input: texts(...list), dimensions: 3 });
    assert.deepEqual(
      vectors,
      list.map((text) => bytesFor(text, 3)),
    );
    assert.equal(emulator.requests.length, calls);
  });
}

test('usage that is told is summed; of usages among which one is missing there is none', async () => {
  const list = Array.from({ length: 150 }, (_, at) => `Text ${at}`);
  const told = (promptTokenCount: number) => ({ kind: 'vectors', usageMetadata: { promptTokenCount } }) as const;
  emulator.script(told(100), told(50), told(100), { kind: 'vectors' });
  assert.equal((await embed({ input: texts(...list) })).usage?.inputTokens, 150);
  assert.equal((await embed({ input: texts(...list) })).usage, undefined);
});

test('when a later call fails, all fails', async () => {
  emulator.script({ kind: 'vectors' }, { kind: 'error', error: 'rate' });
  const list = Array.from({ length: 101 }, (_, at) => `Text ${at}`);
  await assert.rejects(embed({ input: texts(...list) }), isFault('rate'));
});

const FAULTS: Partial<Record<keyof typeof ERRORS, Fault>> = {
  invalid: 'client',
  'bad key': 'account',
  'no credit': 'account',
  'not found': 'config',
  rate: 'rate',
  internal: 'server',
  unavailable: 'server',
};
for (const error of Object.keys(FAULTS) as (keyof typeof ERRORS)[]) {
  test(`the error "${error}" is ${FAULTS[error]}`, async () => {
    emulator.script({ kind: 'error', error });
    await assert.rejects(embed({}), isFault(FAULTS[error] ?? 'garbled'));
  });
}

for (const [field, fields] of [
  ['input', { input: { kind: 'tokens', lists: [[1]] } }],
  ['input_type', { extra: { input_type: 'passage' } }],
  ['truncate', { extra: { truncate: true } }],
] as const) {
  test(`${field} that the vendor has no place for is refused by name`, () => {
    const refusal = { code: 'unsupported_parameter', param: field };
    assert.throws(() => embedding.check(plainEmbedding(fields), upstreamOf()), refusal);
  });
}

test('the vendor’s own library gets vectors from the emulator, and is refused what the vendor refuses', async () => {
  const { models } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: emulator.url } });
  const config = { taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 64 };
  const { embeddings } = await models.embedContent({ model: MODEL, contents: ['One', 'Another'], config });
  assert.deepEqual(
    embeddings?.map(({ values }) => values),
    [vectorFor('One', 64), vectorFor('Another', 64)],
  );
  const refused = { ...config, taskType: 'GUESSING' };
  await assert.rejects(models.embedContent({ model: MODEL, contents: ['One'], config: refused }), { status: 400 });
  const many = Array.from({ length: 101 }, () => 'x');
  await assert.rejects(models.embedContent({ model: MODEL, contents: many }), { status: 400 });
});
