import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEmulator } from './emulator/calls.ts';
import { work } from './work.ts';

test('R-524: models and voices are listed, with the families that a route may name in their place', () =>
  withEmulator(async (_emulator, upstream) => {
    const { ids = [], isWhole } = (await work.listModels?.(upstream)) ?? {};
    assert.equal(isWhole, true);
    const expected = ['nova-3', 'nova-3-general', 'nova-3-medical', 'aura', 'aura-zeus-en', 'aura-2', 'aura-2-lara-de'];
    assert.deepEqual(
      expected.filter((name) => !ids.includes(name)),
      [],
    );
    assert.equal(new Set(ids).size, ids.length);
  }));
