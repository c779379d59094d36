import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Redis as RedisClient } from 'ioredis';
import { pino } from 'pino';
import { type Redis, startRedis } from '../../scripts/engines/redis.ts';
import { parseRedisUrl, type RedisSettings } from '../../src/redis-settings.ts';
import { MemoryThrottle, RedisThrottle } from '../../src/throttle/index.ts';
import type { RedisThrottleOptions } from '../../src/throttle/redis.ts';
import { ManualClock } from './clock.ts';
import { atEnd } from './postgres.ts';
import type { Order } from './throttle-process.ts';

const PROCESS = fileURLToPath(new URL('./throttle-process.ts', import.meta.url));

/** A server of the test's own, stopped at its end. */
export async function redisFor(t: TestContext, ...args: readonly string[]): Promise<Redis> {
  const redis = await startRedis(...args);
  atEnd(t, () => redis.server.stop());
  return redis;
}

/** To look into the server, and to change it. */
export function clientFor(t: TestContext, { url }: Redis): RedisClient {
  const client = new RedisClient(url);
  client.on('error', () => undefined);
  atEnd(t, () => client.disconnect());
  return client;
}

export function redisSettingsOf(url: string, whenAway: RedisSettings['whenAway'] = 'local'): RedisSettings {
  const address = parseRedisUrl(url);
  assert.ok(address !== undefined, url);
  return { address, whenAway };
}

export interface OpenedThrottle {
  readonly throttle: RedisThrottle;
  /** Its log, one object for each line. */
  readonly logged: { level: number; msg: string; reason?: string }[];
}

/** As a process of a deployment has it. Time stands still in its memory. */
export async function throttleFor(
  t: TestContext,
  settings: RedisSettings,
  options: Partial<RedisThrottleOptions> = {},
): Promise<OpenedThrottle> {
  const logged: OpenedThrottle['logged'] = [];
  const throttle = await RedisThrottle.open({
    settings,
    log: pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) }),
    memory: new MemoryThrottle(new ManualClock()),
    processes: () => 1,
    ...options,
  });
  atEnd(t, () => throttle.close());
  return { throttle, logged };
}

/** A process with nothing but a limiter, whose time stands still. Resolves once it has opened it. */
export async function forkLimiter(url: string, environment: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const child = fork(PROCESS, [url], { env: { ...process.env, ...environment } });
  await once(child, 'message');
  return child;
}

/** How many it got. */
export async function takeOn(child: ChildProcess, order: Order): Promise<number> {
  const answer = once(child, 'message');
  child.send(order);
  return Number((await answer)[0]);
}
