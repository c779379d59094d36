import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRedis, startRedis } from '../../scripts/engines/redis.ts';

test('a Redis server answers, refuses while it is killed, and begins with empty memory when it is started again', async () => {
  const redis = await startRedis();
  try {
    assert.equal(await sendRedis(redis.port, 'SET k 1'), '+OK\r\n');
    assert.equal(await sendRedis(redis.port, 'EXISTS k'), ':1\r\n');
    await redis.server.kill();
    await assert.rejects(sendRedis(redis.port, 'PING'), { code: 'ECONNREFUSED' });
    await redis.server.restart();
    assert.equal(await sendRedis(redis.port, 'EXISTS k'), ':0\r\n');
  } finally {
    await redis.server.stop();
  }
});
