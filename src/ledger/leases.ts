import type { Db } from '../db/index.ts';
import { catchUpAll, deletePurse, selectLostPurses } from './journal-store.ts';
import { deleteOwners, lapseSome, runLedger, selectAbandoned } from './store.ts';

const OWNER_KEPT_MS = 24 * 60 * 60 * 1000;
const PER_TURN_MAX = 100;

/**
 * Ends reservations whose owner's lease has run out: at what is known to be owed, or else with a refund. Any process may
 * run it at any time; the owner, should it come back, finds them ended and changes nothing. Tells how many it ended.
 */
export async function endAbandoned(db: Db, now: Date): Promise<number> {
  await deleteOwners(db, new Date(now.getTime() - OWNER_KEPT_MS));
  // An owner that comes back must not go on as if its reservations were still open.
  for (const { id } of await selectLostPurses(db, now)) await deletePurse(db, id);
  await catchUpAll(db);
  return inTurns(async () => {
    const found = await selectAbandoned(db, now, PER_TURN_MAX);
    if (found.length === 0) return 0;
    const endings = found.map(({ id, known }) => ({ id, actual: known > 0n ? known : undefined, units: undefined }));
    const { ended } = await runLedger(db, { now, patience: 'skip', endings, reservations: [], lease: undefined });
    return ended.filter((answer) => answer !== 'busy').length;
  });
}

/** Moves the remainders of expired grants to `lapsed`. Balances are right without it; this keeps the books short. */
export function lapseExpired(db: Db, now: Date): Promise<number> {
  return inTurns(() => lapseSome(db, now, PER_TURN_MAX));
}

/** Short transactions until one is not full: what is left is locked by somebody, and the next call sees to it. */
async function inTurns(turn: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const done = await turn();
    total += done;
    if (done < PER_TURN_MAX) return total;
  }
}
