import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { CLIENT_TYPES_FILE, clientTypesOf } from '../scripts/client-types.ts';
import { TYPES_FILE, typesOf } from '../scripts/console-types.ts';
import { PYTHON_TYPES_FILE, pythonTypesOf } from '../scripts/python-types.ts';
import { Gateway } from './support/gateway.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

test('console/src/api/schema.ts is what the contracts say; "npm run console:types" writes it anew', async () => {
  const { json } = await gateway.call('GET', '/openapi.json');
  assert.equal(readFileSync(TYPES_FILE, 'utf8'), typesOf(json));
});

test('packages/client/src/contract.ts is what the contracts say; "npm run client:types" writes it anew', async () => {
  const { json } = await gateway.call('GET', '/openapi.json');
  assert.equal(readFileSync(CLIENT_TYPES_FILE, 'utf8'), clientTypesOf(json));
});

test('clients/python/src/tollgate/contract.py is what the contracts say; "npm run python:types" writes it anew', async () => {
  const { json } = await gateway.call('GET', '/openapi.json');
  assert.equal(readFileSync(PYTHON_TYPES_FILE, 'utf8'), pythonTypesOf(json));
});
