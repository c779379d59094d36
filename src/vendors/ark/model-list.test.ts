import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEmulator } from './emulator/calls.ts';
import { CLIPS, PICTURES } from './emulator/fields.ts';
import { work } from './work.ts';

test('R-524: models are listed without those that were shut down', () =>
  withEmulator(async (_emulator, upstream) => {
    const listed = await work.listModels?.(upstream);
    assert.deepEqual(listed, { ids: [...CLIPS.keys(), ...PICTURES.keys()], isWhole: true });
  }));
