// What a proxy costs that writes each call down before it is made and again before it is answered, and does nothing else:
// one row and one flush to disk for all calls that come together.
import { randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { GroupCommit, openDb } from '../../src/db/index.ts';
import { answerBench } from './child.ts';
import { openProxy } from './proxy.ts';

const CALLS_PER_ROW_MAX = 256;

const [upstream = ''] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
const log = pino({ level: 'warn' });
const postgres = await startEmbeddedPostgres({ folder, log, progress: () => undefined });
const db = openDb(postgres.connection, log);
await db.run('create table calls (id uuid primary key, calls integer not null)');
const written = new GroupCommit(async (calls: readonly undefined[]) => {
  await db.run('insert into calls values ($1, $2)', [randomUUIDv7(), calls.length]);
  return calls;
}, CALLS_PER_ROW_MAX);

const { server } = openProxy(upstream, ['/v1/chat/completions'], () => written.add(undefined));
const url = await server.listen({ port: 0, host: '127.0.0.1' });
answerBench({ url, key: '' }, async () => {
  server.server.closeAllConnections();
  await db.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});
