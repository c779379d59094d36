import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault, withEmulator } from './emulator/calls.ts';
import { work } from './work.ts';

test('R-524: the models that the organization’s tier may call are listed', () =>
  withEmulator(async ({ upstream }) => {
    const { ids = [], isWhole } = (await work.listModels?.(upstream)) ?? {};
    assert.equal(isWhole, true);
    for (const name of ['gen4.5', 'gen4_turbo', 'eleven_v3']) assert.ok(ids.includes(name), name);
  }));

test('R-524: a tier without models is garbled', () =>
  withEmulator(async ({ emulator, upstream }) => {
    emulator.script({ kind: 'instead', status: 200, body: '{"creditBalance": 1, "tier": {}}' });
    await assert.rejects(async () => work.listModels?.(upstream), isFault('garbled'));
  }));
