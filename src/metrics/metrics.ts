import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GAUGES_CACHE_MS, GAUGES_TIMEOUT_MS } from '../limits.ts';
import { readBacklog } from '../reports/index.ts';
import { type Exposition, openExposition, type Signals } from '../signals/index.ts';
import type { MetricsDeps } from './deps.ts';
import { gauges, type Reading } from './gauges.ts';

const UNREAD: Reading = { backlog: undefined, disk: undefined };

/**
 * Everything that this process exports. What every process would compute over the whole database is read at most once in
 * GAUGES_CACHE_MS, however often and by whichever exporter it is asked for; a database that is away or slow takes those
 * figures out of the answer and holds nothing else up.
 */
export async function openMetrics(deps: MetricsDeps, signals: Signals): Promise<Exposition> {
  let reading = UNREAD;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();
  const refresh = () => {
    const nowMs = performance.now();
    if (nowMs - readAtMs >= GAUGES_CACHE_MS) {
      readAtMs = nowMs;
      running = inTime(deps).then((found) => {
        reading = found;
      });
    }
    return running;
  };
  return openExposition([...signals.metrics, ...gauges(deps, () => reading)], refresh);
}

async function inTime(deps: MetricsDeps): Promise<Reading> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), GAUGES_TIMEOUT_MS);
  try {
    const [backlog, disk] = await Promise.all([
      Promise.race([readBacklog(deps.db, deps.clock.now()).catch(() => undefined), late.promise]),
      diskOf(resolve(deps.config.dataFolder)),
    ]);
    return { backlog, disk };
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined where neither the database nor media lie in the data folder. */
async function diskOf(folder: string): Promise<Reading['disk']> {
  if (!existsSync(folder)) return undefined;
  const disk = await statfs(folder).catch(() => undefined);
  return disk && { free: disk.bavail * disk.bsize, size: disk.blocks * disk.bsize };
}
