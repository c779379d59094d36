import { spawnSync } from 'node:child_process';
import { chownSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../free-ports.ts';
import { EngineServer } from './server.ts';

const VERSIONS = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root. */
const UNPRIVILEGED = 65_534;

export interface DebianPostgres {
  /** Of the database `postgres`; the others are beside it. */
  readonly url: string;
  readonly server: EngineServer;
}

/** The newest PostgreSQL of Debian's packages, by its folder of programs; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  const versions = listFolder(VERSIONS).map(Number).filter(Number.isFinite);
  return versions.length === 0 ? undefined : join(VERSIONS, String(Math.max(...versions)), 'bin');
}

/** A server in a temporary folder, which a password opens over TCP as it does in a deployment. */
export async function startPostgres(password: string): Promise<DebianPostgres> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error('There is no PostgreSQL of a Debian package.');
  const [port = 0] = await freePorts(1);
  const url = `postgres://tollgate:${password}@127.0.0.1:${port}/postgres`;
  const [program = '', ...args] = unprivileged(join(programs, 'postgres'));
  const server = await EngineServer.start(
    {
      name: 'postgres',
      program,
      args: [...args, '-D', 'cluster', '-p', String(port), '-h', '127.0.0.1', '-k', ''],
      isReady: () => answers(url),
    },
    (folder) => makeCluster(programs, folder, password),
  );
  return { url, server };
}

function makeCluster(programs: string, folder: string, password: string): void {
  writeFileSync(join(folder, 'password'), `${password}\n`);
  if (process.getuid?.() === 0) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  const [program = '', ...args] = unprivileged(join(programs, 'initdb'));
  const options = ['--pgdata=cluster', '--username=tollgate', '--pwfile=password', '--auth=scram-sha-256', '--no-sync'];
  const { status, stderr } = spawnSync(program, [...args, ...options], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

function unprivileged(program: string): string[] {
  if (process.getuid?.() !== 0) return [program];
  return ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups', program];
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  await client.connect();
  await client.end();
  return true;
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
