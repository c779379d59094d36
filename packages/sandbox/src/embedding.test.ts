import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmbeddingRequest } from '../../../src/schemas/index.ts';
import { UpstreamPools } from '../../../src/vendors/kit/http.ts';
import { plainEmbedding } from '../../../test/support/plain-requests.ts';
import { sandbox } from './index.ts';
import { vectorOf } from './vector.ts';

const embedding = sandbox.embedding ?? assert.fail('no embeddings');
const { signal } = new AbortController();
const upstream = { model: 'embedding', address: '', apiKey: '', timeoutMs: 1_000, signal, pools: new UpstreamPools() };

function embed(fields: Partial<EmbeddingRequest>) {
  const request = plainEmbedding(fields);
  embedding.check(request, upstream);
  return embedding.embed(request, upstream);
}

const texts = (...list: string[]): EmbeddingRequest['input'] => ({ kind: 'texts', texts: list });

test('each text is its vector, and the tokens of all are counted', async () => {
  const { vectors, usage } = await embed({ input: texts('A toll gate', 'by the sea'), dimensions: 64 });
  const floats = vectors.map((bytes) => Float32Array.from({ length: 64 }, (_, at) => bytes.readFloatLE(4 * at)));
  assert.deepEqual(floats, [vectorOf('A toll gate', 64), vectorOf('by the sea', 64)]);
  assert.equal(usage?.inputTokens, 6);
});

for (const [field, fields] of [
  ['input', { input: { kind: 'tokens', lists: [[1]] } }],
  ['input[1]', { input: texts('a', 'a'.repeat(32_769)) }],
  ['dimensions', { dimensions: 15 }],
  ['dimensions', { dimensions: 1025 }],
] as const) {
  test(`${field} is refused by name: ${JSON.stringify(fields).slice(0, 60)}`, () => {
    const refusal = { code: 'unsupported_parameter', param: field };
    assert.throws(() => embedding.check(plainEmbedding(fields), upstream), refusal);
  });
}

test('what is at the bound is served', async () => {
  for (const dimensions of [16, 1024]) {
    const { vectors } = await embed({ input: texts('a'.repeat(32_768)), dimensions });
    assert.equal(vectors[0]?.length, 4 * dimensions);
  }
});

for (const [fail, fault] of [
  ['busy', 'rate'],
  ['down', 'server'],
  ['timeout', 'timeout'],
  ['garbled', 'garbled'],
  ['policy', 'policy'],
] as const) {
  test(`a request that asks for "${fail}" gets it, and no strike is held against the sandbox`, () =>
    assert.rejects(embed({ extra: { sandbox: { fail } } }), { fault, isRequested: true }));
}
