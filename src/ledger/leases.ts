import type { Db } from '../db/index.ts';
import { postAll } from './journal-store.ts';
import { deletePurse, selectLostPurses } from './purses-store.ts';
import { commitChanges, deleteOwners, lapseSome, selectAbandoned } from './store.ts';

const OWNER_RETENTION_MS = 24 * 60 * 60 * 1000;
const PER_BATCH_MAX = 100;

/**
 * Ends reservations whose owner's lease has run out: at what is known to be owed, or else with a refund. Any process may
 * run it at any time; the owner, should it come back, finds them ended and changes nothing. Returns how many it ended.
 */
export async function endAbandoned(db: Db, now: Date): Promise<number> {
  await deleteOwners(db, new Date(now.getTime() - OWNER_RETENTION_MS));
  // The fence against an owner that comes back: without its purses it cannot write lines about these reservations.
  for (const { id } of await selectLostPurses(db, now)) await deletePurse(db, id);
  await postAll(db);
  return inBatches(async () => {
    const found = await selectAbandoned(db, now, PER_BATCH_MAX);
    if (found.length === 0) return 0;
    const changes = found.map(({ id, known }) => {
      return { kind: 'end', id, actual: known > 0n ? known : undefined, units: undefined } as const;
    });
    const answers = await commitChanges(db, { now, lockMode: 'skip', changes, lease: undefined });
    return answers.filter((answer) => answer !== 'busy').length;
  });
}

/** Moves the remainders of expired grants to `lapsed`. Balances are right without it; this keeps the books short. */
export function lapseExpired(db: Db, now: Date): Promise<number> {
  return inBatches(() => lapseSome(db, now, PER_BATCH_MAX));
}

/** Short transactions until one is not full: what is left is locked elsewhere, and waits for the next call. */
async function inBatches(batch: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const done = await batch();
    total += done;
    if (done < PER_BATCH_MAX) return total;
  }
}
