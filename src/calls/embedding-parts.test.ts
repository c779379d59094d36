import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainEmbedding } from '../../test/support/plain-requests.ts';
import { EMBEDDING_PARTS_AT_ONCE } from '../limits.ts';
import type { EmbeddingRequest } from '../schemas/index.ts';
import { type EmbedPart, embedInParts } from './embedding-parts.ts';

const { signal } = new AbortController();
const requestOf = (count: number) =>
  plainEmbedding({ input: { kind: 'texts', texts: Array.from({ length: count }, (_, at) => `text ${at}`) } });
const textsOf = ({ input }: EmbeddingRequest) => (input.kind === 'texts' ? input.texts : []);
const usageOf = (inputTokens: number) => ({ inputTokens, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 });
const made = (part: EmbeddingRequest) => ({
  vectors: textsOf(part).map((text) => Buffer.from(text)),
  usage: usageOf(textsOf(part).length),
});
const words = (vectors: readonly Buffer[]) => vectors.map(String);

test('what an upstream takes in one part goes to it as it is', async () => {
  const request = requestOf(3);
  const sent: EmbeddingRequest[] = [];
  await embedInParts(request, 3, signal, async (part) => {
    sent.push(part);
    return made(part);
  });
  assert.deepEqual(sent, [request]);
});

test('parts are as large as they may be, and their vectors come in the order of the inputs whichever ends first', async () => {
  const ends: (() => void)[] = [];
  const sizes: number[] = [];
  const embed: EmbedPart = async (part) => {
    sizes.push(textsOf(part).length);
    await new Promise<void>((resolve) => {
      ends.unshift(resolve);
      if (ends.length === 4) for (const end of ends) end();
    });
    return made(part);
  };
  const { vectors, usage } = await embedInParts(requestOf(10), 3, signal, embed);
  assert.deepEqual(sizes, [3, 3, 3, 1]);
  assert.deepEqual(words(vectors), [...textsOf(requestOf(10))]);
  assert.deepEqual(usage, usageOf(10));
});

test('lists of tokens are split as texts are', async () => {
  const input = { kind: 'tokens', lists: [[1], [2, 3], [4]] } as const;
  const sent: unknown[] = [];
  await embedInParts(plainEmbedding({ input }), 2, signal, async (part) => {
    sent.push(part.input);
    return { vectors: [], usage: undefined };
  });
  assert.deepEqual(sent, [
    { kind: 'tokens', lists: [[1], [2, 3]] },
    { kind: 'tokens', lists: [[4]] },
  ]);
});

test('no more than some parts are out at the same time', async () => {
  let out = 0;
  let most = 0;
  await embedInParts(requestOf(40), 1, signal, async (part) => {
    most = Math.max(most, ++out);
    await Promise.resolve();
    out -= 1;
    return made(part);
  });
  assert.equal(most, EMBEDDING_PARTS_AT_ONCE);
});

test('the first failure aborts the parts that are out, begins no other, and is told', async () => {
  const failure = new Error('the second part');
  const aborted: string[] = [];
  let begun = 0;
  const embed: EmbedPart = async (part, either) => {
    begun += 1;
    const [text = ''] = textsOf(part);
    if (text === 'text 1') throw failure;
    return new Promise((_resolve, reject) => {
      either.addEventListener('abort', () => {
        aborted.push(text);
        reject(new Error('aborted'));
      });
    });
  };
  await assert.rejects(embedInParts(requestOf(20), 1, signal, embed), failure);
  assert.deepEqual(aborted, ['text 0', 'text 2', 'text 3']);
  assert.equal(begun, EMBEDDING_PARTS_AT_ONCE);
});

test('a caller who leaves aborts all of them', async () => {
  const leaving = new AbortController();
  const embed: EmbedPart = (_part, either) =>
    new Promise((_resolve, reject) => {
      either.addEventListener('abort', () => reject(either.reason));
    });
  const embedding = embedInParts(requestOf(3), 1, leaving.signal, embed);
  leaving.abort(new Error('left'));
  await assert.rejects(embedding, /left/);
});

test('where one part has no usage, all have none', async () => {
  const embed: EmbedPart = async (part) =>
    textsOf(part)[0] === 'text 1' ? { ...made(part), usage: undefined } : made(part);
  assert.equal((await embedInParts(requestOf(3), 1, signal, embed)).usage, undefined);
});
