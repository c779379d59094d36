import { pino } from 'pino';
import { systemClock } from '../../src/clock.ts';
import { parseRedisUrl } from '../../src/redis-settings.ts';
import { MemoryThrottle, RedisThrottle, type Throttle } from '../../src/throttle/index.ts';
import { installEngines } from '../engines/packages.ts';
import { type Redis, startRedis } from '../engines/redis.ts';
import { type Subject, startGateway } from './gateway.ts';
import { measureRounds } from './load.ts';
import { cpuMicrosOf } from './processes.ts';
import { addedMsRow, cpuAndRateRows, median, type Row, ratioRow } from './table.ts';

const ALLOWANCE = { rpm: 1_000_000, concurrency: 100_000 };
const ROUNDS = 7;
const TAKES = 20_000;
const AT_ONCE = 32;

/**
 * The limiter in Redis against the one in memory, Redis on the same machine: the port itself, as modules of this checkout, and
 * `GET /v1/models` of two gateways that differ by `REDIS_URL` alone.
 */
export async function benchLimits(subject: Subject): Promise<Row[]> {
  const problem = installEngines();
  if (problem !== undefined) throw new Error(`Redis is needed here: ${problem}`);
  const redis = await startRedis();
  try {
    return [...(await benchPort(redis)), ...(await benchGateways(subject, redis))];
  } finally {
    await redis.server.stop();
  }
}

async function benchPort(redis: Redis): Promise<Row[]> {
  const memory = new MemoryThrottle(systemClock);
  const address = parseRedisUrl(redis.url);
  if (address === undefined) throw new Error(`${redis.url} is no address`);
  const settings = { address, whenAway: 'fail' } as const;
  const shared = await RedisThrottle.open({
    settings,
    log: pino({ level: 'silent' }),
    memory,
    processes: () => 1,
  });
  for (const throttle of [memory, shared]) await takeMany(throttle, AT_ONCE);
  const busy: [number, number][] = [];
  const alone: [number, number][] = [];
  const server: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = cpuMicrosOf([redis.server.pid]);
    busy.push([(await takeMany(memory, AT_ONCE)).cpuMicros, (await takeMany(shared, AT_ONCE)).cpuMicros]);
    server.push((cpuMicrosOf([redis.server.pid]) - before) / TAKES);
    alone.push([(await takeMany(memory, 1)).medianMs, (await takeMany(shared, 1)).medianMs]);
  }
  shared.close();
  const serverRow = { measure: 'limiter, processor µs of Redis per take and release', bare: undefined, goal: '' };
  return [
    ratioRow({ measure: `limiter, processor µs per take and release, ${AT_ONCE} at once`, goal: '' }, busy),
    { ...serverRow, tollgate: median(server), ratio: '' },
    addedMsRow({ measure: 'limiter, median ms of a take, one at a time', goal: '' }, alone),
  ];
}

/** Refused or decided without Redis would measure something else. */
async function takeMany(throttle: Throttle, atOnce: number): Promise<{ cpuMicros: number; medianMs: number }> {
  const before = process.cpuUsage();
  const tookMs: number[] = [];
  let left = TAKES;
  const work = async (subject: string) => {
    while (left-- > 0) {
      const beganMs = performance.now();
      const result = await throttle.take(subject, ALLOWANCE);
      tookMs.push(performance.now() - beganMs);
      if (result.state === 'refused') throw new Error(`a take was refused: ${result.code}`);
      result.release();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, at) => work(`key:${at}`)));
  const { user, system } = process.cpuUsage(before);
  return { cpuMicros: (user + system) / TAKES, medianMs: median(tookMs) };
}

async function benchGateways(subject: Subject, redis: Redis): Promise<Row[]> {
  const memory = await startGateway(subject);
  const shared = await startGateway({ ...subject, settings: { REDIS_URL: redis.url } });
  try {
    const rounds = await measureRounds(memory, shared, { path: '/v1/models' });
    return cpuAndRateRows('GET /v1/models, limits in Redis against memory', { cpu: '' }, rounds);
  } finally {
    await Promise.all([memory.stop(), shared.stop()]);
  }
}
