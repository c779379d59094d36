import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { type Entry, listEntries } from '../ledger/index.ts';
import { type ChargeFactors, type FrozenPrice, frozenFactors, type Units } from '../pricing/index.ts';
import type { RequestRecord } from './requests.ts';

/** Why a request cost what it did. */
export interface Receipt {
  /** Undefined where no units were counted: it runs, was refunded, or its process died. */
  readonly factors: ChargeFactors | undefined;
  /** What was set aside at the beginning. */
  readonly held: MicroCredits;
  readonly charged: MicroCredits;
  /** How much of the hold came back. */
  readonly returned: MicroCredits;
  /** In the order in which they were made. */
  readonly entries: readonly Entry[];
}

/** A reservation is made once, ends once and is exceeded once. */
const ENTRIES_MAX = 3;

/** Undefined where nothing was reserved. */
export async function receiptOf(
  db: Db,
  { accountId, reservationId }: Pick<RequestRecord, 'accountId' | 'reservationId'>,
): Promise<Receipt | undefined> {
  if (reservationId === null) return undefined;
  const newest = await listEntries(db, accountId, { reservationId, after: undefined, limit: ENTRIES_MAX });
  const entries = newest.toReversed();
  const [reservation] = await db.rows<{ amount: MicroCredits; price: FrozenPrice }>(
    `select amount, price from reservations r join prices on prices.id = price_id
     where r.id = $1 and r.account_id = $2`,
    [reservationId, accountId],
  );
  if (reservation === undefined) return undefined;
  const units = entries.find((entry) => entry.units !== undefined)?.units as Units | undefined;
  const endings = entries.filter(({ type }) => type === 'settle' || type === 'refund');
  return {
    factors: units && frozenFactors(reservation.price, units),
    held: reservation.amount,
    charged: sumOf(entries.map(({ charged }) => charged)),
    returned: sumOf(endings.map(({ amount }) => amount)),
    entries,
  };
}

function sumOf(amounts: readonly MicroCredits[]): MicroCredits {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
