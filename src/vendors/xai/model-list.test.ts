import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEmulator } from './emulator/calls.ts';
import { CLIP_MODELS, PICTURE_MODELS } from './emulator/fields.ts';
import { work } from './work.ts';

test('R-524: the models that the key may call are listed', () =>
  withEmulator(async ({ at }) => {
    const listed = await work.listModels?.(at('any'));
    assert.deepEqual(listed, { ids: [...PICTURE_MODELS, ...CLIP_MODELS], isWhole: true });
  }));
