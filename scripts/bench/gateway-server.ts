// The gateway as it runs in production: embedded PostgreSQL with fsync, auth, limits and log on.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { CONCURRENCY_MAX, RPM_MAX } from '../../src/limits.ts';
import { createLog } from '../../src/log.ts';
import { answerBench } from './child.ts';

const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
const config = loadConfig({
  PORT: '0',
  TOLLGATE_DATA: folder,
  TOLLGATE_RPM: String(RPM_MAX),
  TOLLGATE_CONCURRENCY: String(CONCURRENCY_MAX),
});
const { log } = createLog('info');
const app = await startApp({ config, environment: {}, log, progress: () => undefined });
answerBench({ url: app.url, key: app.firstStart?.key ?? '' }, async () => {
  await app.stop(1000);
  await rm(folder, { recursive: true, force: true });
});
