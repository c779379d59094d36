import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEmulator } from './emulator/calls.ts';
import { MODELS } from './emulator/models.ts';
import { work } from './work.ts';

test('R-524: models are listed over all pages, as a route names them', () =>
  withEmulator(async ({ emulator, upstream }) => {
    const listed = await work.listModels?.(upstream('any'));
    assert.deepEqual(listed, { ids: [...MODELS.keys()], isWhole: true });
    assert.deepEqual(emulator.requests.map(({ path }) => path).slice(0, 2), ['/v1/models', '/v1/models?cursor=5']);
  }));
