import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import type { DbAddress } from '../../src/db/index.ts';

interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly template: string;
}

export const silentLog = pino({ level: 'silent' });

/** A database of its own, already migrated. */
export interface TestDatabase {
  readonly address: DbAddress & { readonly database: string };
  /** The same as one address, as an operator would write it. */
  readonly url: string;
  /** For what is stored beside it; every process on this database has the same. */
  readonly dataFolder: string;
  drop(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const { host, port, user, template } = sharedServer();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Copies files, which is cheaper here than the default, which logs every page.
  await runOnServer(`create database ${name} template ${template} strategy file_copy`);
  const dataFolder = join(tmpdir(), `tollgate-${name}`);
  return {
    address: { host, port, user, database: name },
    dataFolder,
    url: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    drop: async () => {
      await runOnServer(`drop database ${name} with (force)`);
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

/** Without any limit of time: what a test does before and after itself says nothing of the program. */
async function runOnServer(statement: string): Promise<void> {
  const { host, port, user } = sharedServer();
  const client = new Client({ host, port, user, database: 'postgres' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function sharedServer(): Server {
  const text = process.env.TEST_POSTGRES;
  if (text === undefined) throw new Error('Run tests with "npm test" or "npm test -- FILE": they need its PostgreSQL.');
  return JSON.parse(text);
}
