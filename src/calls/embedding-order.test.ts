import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddingOrder } from './embedding-order.ts';

const textsOf = (...texts: string[]) => embeddingOrder({ kind: 'texts', texts });

test('half as much again as estimated is held for texts, and the marks of each', () => {
  const order = textsOf('Toll gate by the sea, please.', 'x'.repeat(700));
  assert.equal(order.inputTokens, 9 + 200);
  assert.equal(order.units.inputTokens, Math.ceil(1.5 * 209) + 2 * 2);
});

test('for lists of tokens their number is held, and the marks of each', () => {
  const order = embeddingOrder({ kind: 'tokens', lists: [[1, 2, 3], [4]] });
  assert.equal(order.inputTokens, 4);
  assert.equal(order.units.inputTokens, 4 + 2 * 2);
});

test('what is held lies between the estimate and what an upstream may claim', () => {
  for (const texts of [['a'], ['é'.repeat(100)], ['字'.repeat(5_000)], Array.from({ length: 2_048 }, () => 'ab')]) {
    const { inputTokens, units, inputTokensMax } = textsOf(...texts);
    assert.ok(inputTokens <= (units.inputTokens ?? 0));
    assert.ok((units.inputTokens ?? 0) <= inputTokensMax());
  }
});
