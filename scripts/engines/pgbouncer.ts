import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../free-ports.ts';
import { EngineServer } from './server.ts';

/** PgBouncer refuses to run as root. */
const UNPRIVILEGED = 65_534;

export type PoolMode = 'session' | 'transaction' | 'statement';

export interface PgBouncer {
  readonly port: number;
  readonly server: EngineServer;
}

export interface PgBouncerOptions {
  readonly mode: PoolMode;
  /** Where PostgreSQL listens on this machine, and as whom all connect. */
  readonly postgresPort: number;
  readonly user: string;
  /** Sessions of the server for each database and user. */
  readonly poolSize?: number;
}

/** A `pgbouncer` on a free port of this machine, with nothing set but what every deployment must set. */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const [port = 0] = await freePorts(1);
  const isRoot = process.getuid?.() === 0;
  const identity = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups', 'pgbouncer'];
  const [program = '', ...args] = isRoot ? ['setpriv', ...identity] : ['pgbouncer'];
  const server = await EngineServer.start(
    { name: 'pgbouncer', program, args: [...args, 'pgbouncer.ini'], isReady: () => answers(port, options.user) },
    (folder) => {
      writeFileSync(join(folder, 'pgbouncer.ini'), configuration(port, options));
      writeFileSync(join(folder, 'users.txt'), `"${options.user}" ""\n`);
      if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
    },
  );
  return { port, server };
}

function configuration(port: number, { mode, postgresPort, user, poolSize = 60 }: PgBouncerOptions): string {
  return `[databases]
* = host=127.0.0.1 port=${postgresPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = users.txt
admin_users = ${user}
pool_mode = ${mode}
default_pool_size = ${poolSize}
`;
}

/** Its own console answers without a server behind it. */
async function answers(port: number, user: string): Promise<boolean> {
  const client = new Client({ host: '127.0.0.1', port, user, database: 'pgbouncer', connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  await client.connect();
  await client.end();
  return true;
}
