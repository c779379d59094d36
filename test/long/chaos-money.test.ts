import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chaosOfMoney } from '../support/chaos-money.ts';

test('twenty kills of a busy gateway leave nothing held, and books that balance', async () => {
  assert.match(await chaosOfMoney(20), /^20 kills, .* [1-9]\d* calls told of, .* 0 failures$/m);
});
