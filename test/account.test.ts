import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Gateway } from './support/gateway.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
afterEach(() => gateway.assertBooksBalance());
after(() => gateway.stop());

test('R-279: the balance shows what is available, reserved and spent', async () => {
  const { accountId, key } = await gateway.newCaller();
  await gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 12.5 });
  const { json } = await gateway.call('GET', '/v1/credits', { key });
  assert.deepEqual(
    { ...json, updated_at: 0 },
    { object: 'credit_balance', available: 12.5, reserved: 0, spent: 0, updated_at: 0 },
  );
});
