// Everything there is to look at after a round of chaos for sound, read with statements and file calls of its own: nothing
// here comes from the code that is on trial, apart from the connection.
import type { Db } from '../../../../src/db/index.ts';
import { filesIn, gatherLedger, type Ledger, type ObjectRow, objectsIn } from '../books.ts';
import type { World } from '../world.ts';
import type { Outcome } from './load.ts';
import { nameIn } from './sounds.ts';
import type { Submission, Upstreams } from './upstreams.ts';

export interface RecordRow {
  readonly id: string;
  readonly accountId: string;
  readonly model: string;
  readonly temperature: number;
  readonly seconds: number;
  readonly status: string;
  readonly settlementState: string;
  readonly reservationId: string;
  readonly upstream: string | null;
  /** As it was written. */
  readonly task: string | null;
  readonly inputKey: string;
  readonly text: string | null;
  readonly charged: bigint | null;
  readonly errorCode: string | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly expiresAt: Date | null;
}

/** One write to a record, as the database itself has seen it. */
interface ChangeRow {
  readonly id: string;
  /** Null: there was no record before. */
  readonly statusBefore: string | null;
  readonly status: string;
  readonly settlementBefore: string | null;
  readonly settlement: string;
  readonly taskBefore: string | null;
  readonly task: string | null;
}

interface FoundFile {
  readonly bytes: number;
  /** The order that is named in it. */
  readonly name: string | undefined;
}

/** What a round's order was told, and whether it may have been served by a gateway that was taken for dead. */
export interface Told extends Outcome {
  readonly isDisturbed: boolean;
  /** Whether the clock jumped past deadlines in its round. */
  readonly isJumped: boolean;
}

/** A record as its owner reads it. */
export interface ReadRecord {
  readonly id: string;
  readonly httpStatus: number | undefined;
  readonly status: string | undefined;
  readonly text: string | undefined;
  readonly credits: number | undefined;
}

export interface Evidence extends Ledger {
  readonly now: Date;
  readonly records: readonly RecordRow[];
  readonly changes: readonly ChangeRow[];
  readonly objects: readonly ObjectRow[];
  /** By the keys of their objects. */
  readonly files: ReadonlyMap<string, FoundFile>;
  readonly submissions: readonly Submission[];
  readonly outcomes: readonly Told[];
  /** Every record that a client was told of. */
  readonly reads: readonly ReadRecord[];
  readonly complaints: readonly string[];
}

/** Of these accounts; objects and files are looked at all together, since none without an owner may be left over. */
export async function gatherEvidence(
  world: World<Upstreams>,
  outcomes: readonly Told[],
  accountIds: readonly string[],
): Promise<Evidence> {
  const { db, upstreams, complaints } = world;
  const names = new Set(outcomes.map(({ order }) => order.name));
  return {
    ...(await gatherLedger(world, accountIds)),
    now: await world.now(),
    records: await db.rows<RecordRow>(RECORDS, [accountIds]),
    changes: await db.rows<ChangeRow>(CHANGES, [accountIds]),
    objects: await objectsIn(world),
    files: await filesIn(world, async (bytes) => ({ bytes: bytes.length, name: nameIn(bytes) })),
    submissions: upstreams.submissions.filter(({ name }) => names.has(name)),
    outcomes,
    reads: await readAll(world, outcomes),
    complaints: complaints.splice(0),
  };
}

/** The id of the record that a client was told of. */
export function toldId({ headers }: Outcome): string | undefined {
  return headers.location === undefined ? undefined : (headers['x-request-id'] ?? '');
}

async function readAll(world: World, outcomes: readonly Outcome[]): Promise<ReadRecord[]> {
  const reads: ReadRecord[] = [];
  for (const outcome of outcomes) {
    const [id, gateway] = [toldId(outcome), world.gateways.up.at(-1)];
    if (id === undefined || gateway === undefined) continue;
    const { key } = outcome.order.customer;
    const path = new URL(outcome.headers.location ?? '', gateway.url).pathname;
    const answer = await world.call(gateway, 'GET', path, { key });
    const { status, result } = answer?.json ?? {};
    reads.push({ id, httpStatus: answer?.status, status, text: result?.text, credits: result?.usage.credits });
  }
  return reads;
}

const RECORDS = `select id, account_id as "accountId", model, (request->>'temperature')::float8 as temperature, seconds,
    status, settlement_state as "settlementState", reservation_id as "reservationId", upstream_id as upstream,
    task::text as task, object_key as "inputKey", result->>'text' as text, charged, error_code as "errorCode",
    created_at as "createdAt", completed_at as "completedAt", expires_at as "expiresAt"
  from transcriptions where account_id = any ($1)`;

const CHANGES = `select id, status_before as "statusBefore", status, settlement_before as "settlementBefore", settlement,
    task_before as "taskBefore", task
  from chaos.changes where account_id = any ($1) order by number`;

/** From now on the database itself writes down what happens to every record. */
export async function witness(db: Db): Promise<void> {
  for (const statement of WITNESS) await db.run(statement);
}

const WITNESS = [
  'create schema if not exists chaos',
  `create table if not exists chaos.changes (number bigint generated always as identity, account_id text, id text,
     status_before text, status text, settlement_before text, settlement text, task_before text, task text)`,
  `create or replace function chaos.note() returns trigger language plpgsql as $$
   begin
     insert into chaos.changes (account_id, id, status_before, status, settlement_before, settlement, task_before, task)
     values (new.account_id, new.id, old.status, new.status, old.settlement_state, new.settlement_state, old.task::text,
       new.task::text);
     return null;
   end $$`,
  `create or replace trigger chaos_note after insert or update on public.transcriptions
   for each row execute function chaos.note()`,
];
