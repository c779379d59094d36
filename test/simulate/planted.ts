import type { Db } from '../../src/db/index.ts';
import { endAbandoned, settle } from '../../src/ledger/index.ts';
import { charge, freezePrice } from '../../src/pricing/index.ts';
import { generate } from './generate.ts';
import { type MakeDatabase, wipe } from './lanes.ts';
import { type Failure, play } from './play.ts';
import { type Measured, realVerbs, type Verbs } from './verbs.ts';

/** A mistake that could be made, put into the simulator's own database or in front of its verbs. */
interface Bug {
  readonly name: string;
  /** In one of the database's functions: what is written there, and what stands there instead. */
  readonly sql?: { readonly function: string; readonly swaps: readonly (readonly [from: string, to: string])[] };
  readonly verbs?: Partial<Verbs>;
  /** Drops the index by which a reservation ends once; it would stop the bug. */
  readonly unindexed?: boolean;
}

export interface Caught {
  readonly name: string;
  readonly seeds: number;
  /** What caught it; nothing when it got away. */
  readonly failure: Failure | undefined;
}

const IS_OPEN = 'o.reservation_id is not null as is_open';

const BUGS: readonly Bug[] = [
  {
    name: 'a refund of an ended reservation refunds again',
    sql: { function: 'ledger_end', swaps: [[IS_OPEN, isOpenOr("c.kind = 'refund'")]] },
    unindexed: true,
  },
  {
    name: 'a settlement does not ask whether the reservation is open',
    sql: { function: 'ledger_end', swaps: [[IS_OPEN, isOpenOr("c.kind = 'settle'")]] },
    unindexed: true,
  },
  {
    name: 'settles at the current price',
    verbs: withCost(({ current, counts }) => charge(freezePrice(current.pricing, {}), counts)),
  },
  { name: 'rounds each unit', verbs: withCost(roundedPerUnit) },
  {
    name: 'charges before the commit, outside the transaction',
    verbs: {
      settleJob: async (line, db, { id, actual, now, units }) => {
        const ending = await db.transaction((tx) => settle(tx, id, actual, now, units));
        return line.transaction(async () => ending);
      },
    },
  },
  {
    name: 'gives everything back to the first grant',
    sql: {
      function: 'ledger_returned',
      swaps: [
        [
          'return parts;',
          `for place in 2 .. cardinality(parts) loop
            parts[1] := parts[1] + parts[place];
            parts[place] := 0;
          end loop;
          return parts;`,
        ],
      ],
    },
  },
  {
    name: 'spends from expired grants',
    sql: { function: 'ledger_lapse_and_cover', swaps: [['perform ledger_lapse(moment, account_ids);', '']] },
  },
  {
    name: 'checks a key’s limit without its open reservations',
    sql: {
      function: 'ledger_reserve',
      swaps: [['bound.amount - key_spending.held - case', 'bound.amount - case']],
    },
  },
  {
    name: 'admits neighbours on the balance of before them',
    sql: {
      function: 'ledger_reserve',
      swaps: [
        ['when balance < amount and', 'when change.available < amount and'],
        ['while to_split > 0 loop', 'while to_split > 0 and open_index <= cardinality(open_parts) loop'],
      ],
    },
  },
  {
    name: 'refunds an abandoned reservation although usage is known',
    verbs: {
      endAbandoned: async (db, now) => {
        await db.run('update open_reservations set known = 0 where lease_until <= $1', [now]);
        return endAbandoned(db, now);
      },
    },
  },
];

function isOpenOr(also: string): string {
  return `(o.reservation_id is not null or ${also}) as is_open`;
}

function withCost(costOf: Verbs['costOf']): Partial<Verbs> {
  const settleBill = async (measured: Measured) => {
    const { process, reservation } = measured.hold;
    if (reservation === undefined) return undefined;
    const units = JSON.stringify(measured.counts);
    const ending = await process.deps.callLedger.settle(reservation, costOf(measured), units);
    return ending.charged;
  };
  return { costOf, settleBill };
}

function roundedPerUnit({ hold, counts }: Measured): bigint {
  const { price } = hold.quoted;
  return price.rates.reduce((sum, rate) => sum + charge({ ...price, rates: [rate] }, counts), 0n);
}

/** Plays each bug until something catches it. */
export async function catchPlanted(
  makeDatabase: MakeDatabase,
  { seedsMax, steps }: { readonly seedsMax: number; readonly steps: number },
): Promise<readonly Caught[]> {
  const caught: Caught[] = [];
  for (const bug of BUGS) {
    const database = await makeDatabase();
    const { db } = database;
    try {
      await unguard(db, bug);
      caught.push(await hunt(db, bug, seedsMax, steps));
    } finally {
      await database.drop();
    }
  }
  return caught;
}

async function hunt(db: Db, bug: Bug, seedsMax: number, steps: number): Promise<Caught> {
  const { name } = bug;
  for (let seed = 1; seed <= seedsMax; seed++) {
    const scenario = generate(seed, steps);
    const mend = await plant(db, bug);
    const failure = await play(db, { ...realVerbs, ...bug.verbs }, scenario);
    await wipe(db);
    await mend();
    if (failure === undefined) continue;
    // The bug is caught only if the same seed is clean without it.
    if ((await play(db, realVerbs, scenario)) === undefined) return { name, seeds: seed, failure };
    await wipe(db);
  }
  return { name, seeds: seedsMax, failure: undefined };
}

/** Puts the bug in, and returns what takes it out again. */
async function plant(db: Db, { name, sql }: Bug): Promise<() => Promise<void>> {
  if (sql === undefined) return async () => undefined;
  const rows = await db.rows<{ text: string }>('select pg_get_functiondef($1::regproc) as text', [sql.function]);
  const right = rows[0]?.text ?? '';
  let wrong = right;
  for (const [from, to] of sql.swaps) {
    if (wrong.split(from).length !== 2) throw new Error(`"${name}" no longer fits ${sql.function}: "${from}"`);
    wrong = wrong.replace(from, () => to);
  }
  await db.transaction((tx) => tx.script(wrong));
  return () => db.transaction((tx) => tx.script(right));
}

/** Takes the database's own checks away: they would stop most bugs, and it is the simulator that is on trial. */
async function unguard(db: Db, { unindexed }: Bug): Promise<void> {
  await db.transaction((tx) => tx.script(UNGUARD));
  if (unindexed) await db.run('drop index ledger_entries_once');
}

const UNGUARD = `
  do $$
  declare
    guard record;
  begin
    for guard in select conrelid::regclass as guarded, conname from pg_constraint
      where contype = 'c' and conrelid in ('ledger_entries'::regclass, 'balances'::regclass, 'grants'::regclass,
        'key_spending'::regclass)
    loop
      execute format('alter table %s drop constraint %I', guard.guarded, guard.conname);
    end loop;
  end $$`;

export function showCaught(results: readonly Caught[]): string {
  const lines = results.map(({ name, seeds, failure }) =>
    failure === undefined
      ? `NOT CAUGHT in ${seeds} seeds: ${name}`
      : `${name}: seed ${failure.scenario.seed}, step ${failure.step}, "${failure.rule}"`,
  );
  const count = results.filter(({ failure }) => failure !== undefined).length;
  return [...lines, `${count} of ${results.length} planted bugs caught`].join('\n');
}
