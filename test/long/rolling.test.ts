import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roll, showRolled } from '../rolling/run.ts';

test('R-528: three processes restarted in turn under load fail no request, and charge exactly what was done', async () => {
  const rolled = await roll({ restarts: 3 });
  const { failures, complaints, balanced, spent, cost, reserved, done } = rolled;
  const outcome = { failures, complaints, balanced, spent, reserved };
  assert.deepEqual(
    outcome,
    { failures: [], complaints: [], balanced: true, spent: cost, reserved: 0 },
    showRolled(rolled),
  );
  for (const [work, count] of Object.entries(done)) assert.notEqual(count, 0, work);
});
