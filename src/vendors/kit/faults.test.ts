import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import { FaultTable, failed } from './faults.ts';
import { itemsAt, objectAt, stringAt } from './json.ts';

const table = new FaultTable({
  errorIn: (body) => body.error ?? undefined,
  codesIn: (body) => [stringAt(objectAt(body, 'error'), 'code'), stringAt(objectAt(body, 'error'), 'kind')],
  codes: { policy: ['unsafe'], account: ['no_credit'], rate: ['busy'] },
  types: { client: ['bad_request'] },
  patterns: [[/^runner_/, 'server']],
  statuses: { 423: 'rate', 404: 'client' },
  exception: (body, status) => (status === 400 && body.words === 'pay' ? 'account' : undefined),
  retryAfterMs: (body) => (typeof body.wait === 'number' ? body.wait * 1000 : undefined),
});

const REFUSALS: readonly [status: number, body: JsonObject | undefined, fault: string][] = [
  [400, { error: { code: 'unsafe' } }, 'policy'],
  [500, { error: { code: 'unsafe' } }, 'policy'],
  [400, { error: { code: 'other', kind: 'busy' } }, 'rate'],
  [400, { error: { code: 'busy', kind: 'unsafe' } }, 'rate'],
  [400, { error: { code: 'runner_lost' } }, 'server'],
  [400, { words: 'pay', error: { code: 'unsafe' } }, 'account'],
  [401, { words: 'pay' }, 'account'],
  [423, {}, 'rate'],
  [404, undefined, 'client'],
  [400, { error: { type: 'bad_request', code: 'toString' } }, 'client'],
  [429, { error: { type: 'bad_request' } }, 'rate'],
  [418, undefined, 'garbled'],
  [599, undefined, 'server'],
];
for (const [status, body, fault] of REFUSALS) {
  test(`a refusal ${status} ${JSON.stringify(body)} is ${fault}`, () =>
    assert.equal(table.ofRefusal(status, body), fault));
}

const INSIDE: readonly [body: JsonObject, fault: string | undefined][] = [
  [{}, undefined],
  [{ error: null }, undefined],
  [{ error: 'text' }, 'server'],
  [{ error: { code: 'unsafe' } }, 'policy'],
  [{ error: { code: 429, type: 'bad_request' } }, 'rate'],
  [{ error: { code: 423 } }, 'rate'],
  [{ error: { type: 'bad_request' } }, 'client'],
  [{ error: { code: 599 } }, 'server'],
];
for (const [body, fault] of INSIDE) {
  test(`a success ${JSON.stringify(body)} ${fault === undefined ? 'is one' : `fails as ${fault}, for certain`}`, () => {
    const error = table.errorIn(body);
    assert.deepEqual(error && [error.fault, error.isUncertain], fault && [fault, false]);
  });
}

test('an error is read at its beginning, however long it is', () => {
  const seen: number[] = [];
  const reading = new FaultTable({
    codesIn: (body) => [stringAt(body, 'code')],
    patterns: [[/^x*pay/, 'account']],
    exception: (body) => {
      seen.push(
        ...[body.words, ...itemsAt(body, 'all')].map((text) => (typeof text === 'string' ? text.length : Number.NaN)),
      );
      return undefined;
    },
  });
  const [most, more] = [UPSTREAM_ERROR_BYTES_MAX, UPSTREAM_ERROR_BYTES_MAX + 1].map((chars) => 'x'.repeat(chars));
  reading.ofBody({ words: most ?? '', all: [more ?? '', ''] });
  assert.deepEqual(seen, [UPSTREAM_ERROR_BYTES_MAX, UPSTREAM_ERROR_BYTES_MAX, 0]);
  assert.equal(reading.ofBody({ code: `${most?.slice(3)}pay` }), 'account');
  assert.equal(reading.ofBody({ code: `${most?.slice(2)}pay` }), undefined);
  assert.equal(reading.ofCode(`${most?.slice(3)}pay`), 'account');
  assert.equal(reading.ofCode(`${most?.slice(2)}pay`), undefined);
});

test('an error inside a success says how long to stay away', () => {
  assert.equal(table.errorIn({ error: 'x', wait: 2 })?.retryAfterMs, 2000);
});

test('a task fails with a public code, and with a detail that is cut', () => {
  assert.equal(failed('client', 'x').code, 'upstream_rejected');
  assert.equal(failed('policy', 'x').code, 'content_rejected');
  assert.equal(failed('garbled', 'x').code, 'upstream_failed');
  assert.equal(failed('server', 'x'.repeat(UPSTREAM_ERROR_BYTES_MAX + 1)).detail.length, UPSTREAM_ERROR_BYTES_MAX);
});
