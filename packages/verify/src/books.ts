// The money of a round and what lies in the store, read with statements and file calls of its own, and what must be true
// of the books whatever was paid for.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queries } from '../../../src/db/index.ts';
import type { World } from './world.ts';

export interface EntryRow {
  readonly accountId: string;
  readonly number: bigint;
  readonly type: string;
  readonly granted: bigint;
  readonly available: bigint;
  readonly reserved: bigint;
  readonly charged: bigint;
  readonly lapsed: bigint;
  readonly balance: bigint;
  readonly reservationId: string | null;
  readonly grantIds: readonly string[];
  readonly parts: readonly string[];
}

interface HoldRow {
  readonly id: string;
  readonly jobId: string | null;
  readonly requestId: string;
  readonly endpoint: string;
  readonly amount: bigint;
  readonly isOpen: boolean;
}

interface BalanceRow {
  readonly accountId: string;
  readonly granted: bigint;
  readonly available: bigint;
  readonly reserved: bigint;
  readonly charged: bigint;
  readonly lapsed: bigint;
}

export interface ObjectRow {
  readonly key: string;
  readonly bytes: bigint;
  readonly deleteAt: Date;
}

/** All the money of some accounts. */
export interface Ledger {
  readonly entries: readonly EntryRow[];
  readonly holds: readonly HoldRow[];
  readonly balances: readonly BalanceRow[];
  readonly grants: readonly { readonly id: string; readonly remaining: bigint }[];
  /** What the operator is told of the books. */
  readonly books: { readonly balanced: boolean };
}

/** Of a world, or of anything else that has a database and an operator. */
export type LedgerSource = Pick<World, 'admin'> & { readonly db: Queries };

export async function gatherLedger(world: LedgerSource, accountIds: readonly string[]): Promise<Ledger> {
  const { db } = world;
  const of = [accountIds];
  // First, since it makes entries of whatever has none yet.
  const books: Ledger['books'] = await world.admin('GET', '/books?full=1');
  return {
    books,
    entries: await db.rows<EntryRow>(ENTRIES, of),
    holds: await db.rows<HoldRow>(HOLDS, of),
    balances: await db.rows<BalanceRow>(BALANCES, of),
    grants: await db.rows<Ledger['grants'][number]>('select id, remaining from grants where account_id = any ($1)', of),
  };
}

const ENTRIES = `select account_id as "accountId", number, type, granted, available, reserved, charged, lapsed, balance,
    reservation_id as "reservationId", grant_ids as "grantIds", parts::text[] as parts
  from ledger_entries where account_id = any ($1) order by account_id, number`;

const HOLDS = `select id, job_id as "jobId", request_id as "requestId", endpoint, amount,
    exists (select from open_reservations where reservation_id = reservations.id) as "isOpen"
  from reservations where account_id = any ($1)`;

const BALANCES = `select account_id as "accountId", granted, available, reserved, charged, lapsed
  from balances where account_id = any ($1)`;

export function objectsIn({ db }: World): Promise<ObjectRow[]> {
  return db.rows<ObjectRow>('select key, bytes, delete_at as "deleteAt" from stored_objects');
}

/** The folder's own place for what is being written; a start cleans it. */
const UNFINISHED = 'unfinished';

/** Everything in the object folder, by the keys of its objects. */
export async function filesIn<Found>(
  { objectFolder }: World,
  look: (bytes: Buffer) => Promise<Found>,
): Promise<Map<string, Found>> {
  const files = new Map<string, Found>();
  for (const shard of await readdir(objectFolder)) {
    if (shard === UNFINISHED) continue;
    for (const name of await readdir(join(objectFolder, shard))) {
      files.set(name.replace('.', '/'), await look(await readFile(join(objectFolder, shard, name))));
    }
  }
  return files;
}

/** The books follow from the entries. */
export function faultsOfBooks({ entries, balances, grants, books }: Ledger): string[] {
  return [
    ...(books.balanced ? [] : ['the program itself says that its books do not balance']),
    ...balances.flatMap((balance) => faultsOfBalance(balance, entries)),
    ...grants.flatMap(({ id, remaining }) => {
      const left = entries.reduce((sum, entry) => sum + partOf(entry, id), 0n);
      return left === remaining ? [] : [`grant ${id} has ${remaining} left, and its entries say ${left}`];
    }),
  ];
}

/** A reservation was held once and ended once, at this cost; undefined gave everything back. */
export function faultsOfPayment(name: string, entries: readonly EntryRow[], cost: bigint | undefined): string[] {
  const [holds, ends] = [
    entries.filter(({ type }) => type === 'reserve'),
    entries.filter(({ type }) => type !== 'reserve'),
  ];
  const [hold, end] = [holds[0], ends[0]];
  if (holds.length !== 1 || hold === undefined) return [`${name} was held ${holds.length} times`];
  if (ends.length !== 1 || end === undefined) return [`${name} was ended ${ends.length} times`];
  const findings = [];
  if (end.type !== (cost === undefined ? 'refund' : 'settle')) findings.push(`${name} has a ${end.type}`);
  if (end.charged !== (cost ?? 0n)) findings.push(`${name} is worth ${cost ?? 0n} and was charged ${end.charged}`);
  if (end.available !== hold.reserved - end.charged)
    findings.push(`${name} got ${end.available} back of ${hold.reserved}`);
  for (const id of new Set([...hold.grantIds, ...end.grantIds])) {
    const [taken, given] = [-partOf(hold, id), partOf(end, id)];
    if (given < 0n || given > taken || (cost === undefined && given !== taken)) {
      findings.push(`${name} took ${taken} from grant ${id} and gave ${given} back`);
    }
  }
  return findings;
}

function partOf({ grantIds, parts }: EntryRow, grantId: string): bigint {
  return grantIds.reduce((sum, id, place) => (id === grantId ? sum + BigInt(parts[place] ?? 0) : sum), 0n);
}

const FIGURES = ['granted', 'available', 'reserved', 'charged', 'lapsed'] as const;

function faultsOfBalance(balance: BalanceRow, entries: readonly EntryRow[]): string[] {
  const own = entries.filter(({ accountId }) => accountId === balance.accountId);
  let available = 0n;
  const findings = own.flatMap((entry, place) => {
    available += entry.available;
    const isNext = entry.number === BigInt(place + 1) && entry.balance === available;
    return isNext ? [] : [`entry ${entry.number} of ${balance.accountId} does not follow from the one before`];
  });
  for (const figure of FIGURES) {
    const sum = own.reduce((total, entry) => total + entry[figure], 0n);
    if (sum !== balance[figure])
      findings.push(`${balance.accountId} has ${figure} ${balance[figure]}, and its entries say ${sum}`);
  }
  return findings;
}
