import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../src/config.ts';
import { openDb } from '../../src/db/index.ts';
import { silentLog } from './database.ts';
import type { Gateway, NewCaller } from './gateway.ts';
import type { Studio } from './studio.ts';

/** Lets everything that is done now and then be done once, by a process that does nothing else. */
export async function sweep(studio: Studio, settings: Environment = {}): Promise<void> {
  const { database, clock } = studio.gateway;
  const other = await studio.another({ database, clock, settings });
  await other.stop();
}

export function objectFolder({ database }: Gateway): string {
  return join(database.dataFolder, 'objects');
}

/** The paths of everything in the object store, what is being written included. */
export function storedFiles(gateway: Gateway): string[] {
  const folder = objectFolder(gateway);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.parentPath !== folder)
    .map((entry) => join(entry.parentPath, entry.name));
}

/** What a test asks of the database itself. */
export async function rowsOf<Row extends object>(
  gateway: Gateway,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const db = openDb(gateway.database.address, silentLog);
  try {
    return await db.rows<Row>(sql, values);
  } finally {
    await db.close();
  }
}

export interface Traces {
  readonly jobs: number;
  readonly reservations: number;
  readonly keys: number;
  readonly files: number;
}

/** How much there is of everything that a create call can leave behind. */
export async function tracesOf(gateway: Gateway, { accountId }: NewCaller): Promise<Traces> {
  const [row] = await rowsOf<Traces>(
    gateway,
    `select (select count(*)::int from jobs where account_id = $1) as jobs,
       (select count(*)::int from reservations where account_id = $1) as reservations,
       (select count(*)::int from idempotency_keys where account_id = $1) as keys,
       (select count(*)::int from files where account_id = $1) as files`,
    [accountId],
  );
  assert.ok(row);
  return row;
}

/** One more key of the same account. */
export async function anotherKey(gateway: Gateway, caller: NewCaller, fields: object = {}): Promise<NewCaller> {
  const body = { name: 'another', rpm: 100_000, ...fields };
  const { status, json, text } = await gateway.admin('POST', `/accounts/${caller.accountId}/keys`, body);
  assert.equal(status, 200, text);
  return { accountId: caller.accountId, keyId: json.id, key: json.key };
}

/** A caller who may also ask many times at once. */
export async function crowd(gateway: Gateway, credits: number): Promise<NewCaller> {
  const caller = await gateway.newCaller({ key: { rpm: 100_000, concurrency: 1000 } });
  const granted = await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits });
  assert.equal(granted.status, 200, granted.text);
  return caller;
}
