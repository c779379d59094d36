import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AMOUNT_MICRO_MAX } from '../credits.ts';
import { checkAmount, LedgerMisuse, toAdmission, toEnding } from './outcomes.ts';

test('an admission carries its split, the largest amount exactly', () => {
  assert.deepEqual(
    toAdmission(
      [
        ['grant_a', 'grant_b'],
        [Number(AMOUNT_MICRO_MAX), 1],
      ],
      'id',
    ),
    {
      state: 'admitted',
      split: [
        { grantId: 'grant_a', amount: AMOUNT_MICRO_MAX },
        { grantId: 'grant_b', amount: 1n },
      ],
    },
  );
});

test('a refusal says which limit was met, and what was left of it', () => {
  for (const reason of ['balance', 'key_limit'] as const) {
    assert.deepEqual(toAdmission({ reason, left: -1 }, 'id'), { state: 'refused', reason, left: -1n });
  }
});

test('every other answer is the caller’s mistake', () => {
  for (const answer of ['unknown', 'conflict', 'busy', undefined] as const) {
    assert.throws(() => toAdmission(answer, 'id'), LedgerMisuse);
  }
  for (const answer of ['unknown', 'busy', undefined] as const) {
    assert.throws(() => toEnding(answer, 'id'), LedgerMisuse);
  }
});

test('an amount that no price can give is refused', () => {
  for (const amount of [-1n, AMOUNT_MICRO_MAX + 1n]) assert.throws(() => checkAmount(amount), RangeError);
  for (const amount of [0n, AMOUNT_MICRO_MAX]) checkAmount(amount);
});
