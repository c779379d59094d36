// What clients were told of a deployment whose database failed over, held against what the promoted server has.

import {
  faultsOfBooks,
  faultsOfPayment,
  gatherLedger,
  type Ledger,
  type LedgerSource,
} from '../../packages/verify/src/books.ts';
import type { Db, Queries } from '../../src/db/index.ts';
import type { Order } from './failover-load.ts';

export interface FailoverEvidence extends Ledger {
  readonly orders: readonly Order[];
  readonly jobs: readonly { readonly id: string; readonly status: string; readonly prompt: string }[];
  readonly references: readonly string[];
  /** The prompt of each picture that the upstream made. */
  readonly submissions: readonly string[];
}

export async function gatherFailover(
  source: LedgerSource & { readonly db: Db },
  accountId: string,
  told: Pick<FailoverEvidence, 'orders' | 'submissions'>,
): Promise<FailoverEvidence> {
  // Makes entries of whatever has none yet, before the snapshot in which everything is read.
  const books = await source.admin('GET', '/books?full=1');
  return source.db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read');
    const ledger = await gatherLedger({ db: tx, admin: async () => books }, [accountId]);
    return { ...told, ...ledger, ...(await rowsOf(tx, accountId)) };
  });
}

async function rowsOf(db: Queries, accountId: string): Promise<Pick<FailoverEvidence, 'jobs' | 'references'>> {
  const jobs = await db.rows<FailoverEvidence['jobs'][number]>(
    `select id, status, request->'request'->>'prompt' as prompt from jobs where account_id = $1`,
    [accountId],
  );
  const grants = await db.rows<{ reference: string }>(
    'select reference from grants where account_id = $1 and reference is not null',
    [accountId],
  );
  return { jobs, references: grants.map(({ reference }) => reference) };
}

/** Each finding is a sentence. */
export function checkFailover(evidence: FailoverEvidence): string[] {
  const { orders } = evidence;
  const of = (kind: Order['kind']) => orders.filter((order) => order.kind === kind);
  return [
    ...faultsOfBooks(evidence),
    ...faultsOfChats(evidence, of('chat')),
    ...faultsOfChats(evidence, of('stream')),
    ...of('stream')
      .filter(isCut)
      .map(({ name }) => `${name} began and did not come to its end`),
    ...of('job').flatMap((order) => faultsOfJob(evidence, order)),
    ...of('grant').flatMap((order) => faultsOfGrant(evidence, order)),
    ...orders
      .filter(({ statuses }) => statuses.some((status) => ![200, 202, 409, 503].includes(status)))
      .map(({ name, statuses }) => `${name} was answered ${statuses.join()}`),
    ...evidence.holds.filter(({ isOpen }) => isOpen).map(({ id }) => `reservation ${id} is open`),
  ];
}

/** Of one kind all cost the same. One that was answered is paid once, one that was refused is not paid. */
function faultsOfChats({ holds, entries }: FailoverEvidence, chats: readonly Order[]): string[] {
  const requests = new Set(chats.flatMap(({ ids }) => ids));
  const byRequest = Map.groupBy(holds, ({ requestId }) => requestId);
  const byReservation = Map.groupBy(entries, ({ reservationId }) => reservationId);
  const paid = entries.find(({ type, reservationId }) => type === 'settle' && isOwn(reservationId));
  return chats.flatMap(({ name, statuses, ids }) => {
    const own = ids.flatMap((id) => byRequest.get(id) ?? []);
    if (own.length > 1) return [`${name} has ${own.length} reservations`];
    const rows = own.flatMap(({ id }) => byReservation.get(id) ?? []);
    if (statuses[0] === 200) return faultsOfPayment(name, rows, paid?.charged ?? 0n);
    return rows.some(({ charged }) => charged !== 0n) ? [`${name} was answered ${statuses.join()} and charged`] : [];
  });

  function isOwn(reservationId: string | null): boolean {
    const requestId = holds.find(({ id }) => id === reservationId)?.requestId;
    return requestId !== undefined && requests.has(requestId);
  }
}

function isCut({ statuses, doneAtMs }: Order): boolean {
  return statuses[0] === 200 && doneAtMs === undefined;
}

function faultsOfJob({ jobs, holds, entries, submissions }: FailoverEvidence, { name, ids }: Order): string[] {
  const made = jobs.filter(({ prompt }) => prompt === name);
  const job = made[0];
  const drawn = submissions.filter((prompt) => prompt === name).length;
  if (made.length !== 1 || job === undefined) return [`${name} was told ${ids.join()} and became ${made.length} jobs`];
  if (ids.some((id) => id !== job.id)) return [`${name} was told ${ids.join()} and is ${job.id}`];
  if (drawn !== 1 || job.status !== 'succeeded') return [`${name} is ${job.status} and was drawn ${drawn} times`];
  const own = holds.filter(({ jobId }) => jobId === job.id).map(({ id }) => id);
  const rows = entries.filter(({ reservationId }) => reservationId !== null && own.includes(reservationId));
  return faultsOfPayment(name, rows, rows.find(({ type }) => type === 'reserve')?.reserved);
}

function faultsOfGrant({ references }: FailoverEvidence, { name }: Order): string[] {
  const made = references.filter((reference) => reference === name).length;
  return made === 1 ? [] : [`${name} was acknowledged and made ${made} times`];
}
