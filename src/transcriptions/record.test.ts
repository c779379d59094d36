import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asOf,
  type SettlementState,
  type Status,
  settlementsBefore,
  statusesBefore,
  type TranscriptionRecord,
} from './record.ts';

const BEFORE: Readonly<Record<Status, readonly Status[]>> = {
  pending: [],
  processing: ['pending'],
  completed: ['processing'],
  failed: ['processing'],
  unavailable: ['processing'],
  expired: ['completed'],
};
for (const [status, before] of Object.entries(BEFORE) as [Status, Status[]][]) {
  test(`R-433, R-436: a record becomes ${status} from ${before.join() || 'nothing'}, and from nothing else`, () => {
    assert.deepEqual(statusesBefore(status), before);
  });
}

const PAID: Readonly<Record<SettlementState, readonly SettlementState[]>> = {
  pending: [],
  unknown: ['pending'],
  settled: ['pending', 'unknown'],
  released: ['pending', 'unknown'],
};
for (const [state, before] of Object.entries(PAID) as [SettlementState, SettlementState[]][]) {
  test(`R-435: money becomes ${state} from ${before.join(' or ') || 'nothing'}, and from nothing else`, () => {
    assert.deepEqual(settlementsBefore(state), before);
  });
}

const AT = new Date(1_000_000);
const record = (status: Status, expiresAt: Date | null): TranscriptionRecord => ({
  id: 'req_a',
  model: 'm',
  status,
  settlementState: 'settled',
  createdAt: AT,
  completedAt: AT,
  expiresAt,
  errorCode: null,
  result: {
    transcript: { text: 'a' },
    wanted: { responseFormat: 'json', language: undefined, temperature: undefined, granularities: [] },
    seconds: 1,
    charged: 1n,
  },
});
const before = new Date(AT.getTime() - 1);

test('R-443, R-449: a completed record has expired at its very moment, and not a millisecond before', () => {
  const expired = asOf(record('completed', AT), AT);
  assert.deepEqual([expired.status, expired.result], ['expired', null]);
  assert.deepEqual(asOf(record('completed', AT), before), record('completed', AT));
  assert.deepEqual(asOf(record('completed', null), AT), record('completed', null));
});

for (const status of ['pending', 'processing', 'failed', 'unavailable'] as const) {
  test(`R-436: a record that is ${status} never expires`, () => {
    assert.equal(asOf(record(status, before), AT).status, status);
  });
}
