import { sum } from './amounts.ts';
import type { EntryRow, Evidence, HoldRow } from './evidence.ts';
import { nameOfKey } from './evidence.ts';
import type { KeySetting } from './scenario.ts';
import { periodStartMs } from './scenario.ts';
import { type Counts, cost, type Tariff } from './tariff.ts';

/** What the simulator itself remembers and no row can alter. */
export interface Memory {
  /** The price in force when a hold was first asked for, by its name. */
  readonly tariffs: ReadonlyMap<string, Tariff>;
  /** The most that was metered of a hold while it was open. */
  readonly known: ReadonlyMap<string, bigint>;
  readonly keys: readonly KeySetting[];
}

/** Says what is wrong, or nothing. */
type Invariant = (evidence: Evidence, memory: Memory) => string | undefined;

/** The fifteen laws of a money system. Each looks at the rows alone, and at no rule of the ledger's own code. */
export const INVARIANTS: Readonly<Record<string, Invariant>> = {
  'granted = available + reserved + charged + lapsed': ({ balances }) =>
    first(balances, (row) => row.granted !== row.available + row.reserved + row.charged + row.lapsed),

  'the entries add up to the balance': (evidence) =>
    first(evidence.balances, (row) => {
      const entries = evidence.entries.get(row.account) ?? [];
      const sums = FIGURES.every((figure) => row[figure] === sum(entries.map((entry) => entry[figure])));
      return !sums || row.entries !== entries.length || row.available !== (entries.at(-1)?.balance ?? 0n);
    }),

  'a grant holds its amount less what was taken, plus what came back': (evidence) =>
    first(evidence.grants.values(), (grant) => {
      const entries = evidence.entries.get(grant.account) ?? [];
      return grant.remaining !== sum(entries.map((entry) => partOf(entry, grant.id)));
    }),

  'no grant is below zero or above its amount': ({ grants }) =>
    first(grants.values(), ({ amount, remaining }) => remaining < 0n || remaining > (amount > 0n ? amount : 0n)),

  'an open reservation holds exactly its split': (evidence) =>
    first(evidence.holds.values(), (hold) => {
      const entries = evidence.entriesOf.get(hold.id) ?? [];
      return hold.is_open && (sum(entries.map(reservedBy)) !== hold.amount || sum(hold.parts) !== hold.amount);
    }),

  'an ended reservation holds nothing': (evidence) =>
    first(evidence.holds.values(), (hold) => {
      const entries = evidence.entriesOf.get(hold.id) ?? [];
      return !hold.is_open && sum(entries.map(reservedBy)) !== 0n;
    }),

  'a reservation ends once': (evidence) =>
    first(evidence.holds.values(), (hold) => {
      const ends = (evidence.entriesOf.get(hold.id) ?? []).filter(isEnd);
      return ends.length !== (hold.is_open ? 0 : 1);
    }),

  'the charge is the frozen price times the units': (evidence, memory) =>
    first(settledNow(evidence), (hold) => {
      const entries = evidence.entriesOf.get(hold.id) ?? [];
      return sum(entries.map((entry) => entry.charged)) !== owed(hold, entries, memory);
    }),

  'nothing is charged without a reservation': (evidence) =>
    first(evidence.fresh, (entry) => {
      if (entry.charged === 0n) return false;
      const held = evidence.entriesOf.get(entry.hold ?? '')?.find(({ type }) => type === 'reserve');
      return held === undefined || held.number >= entry.number || held.account !== entry.account;
    }),

  'a balance is below zero only by charges above a reservation': (evidence) =>
    first(evidence.balances, ({ account, available }) => {
      const debt = sum((evidence.entries.get(account) ?? []).map(debtBy));
      const grants = [...evidence.grants.values()].filter((grant) => grant.account === account);
      const remaining = sum(grants.map((grant) => grant.remaining));
      return debt < 0n || available !== remaining - debt || (debt > 0n && remaining > 0n);
    }),

  'an expired grant is never spent from': (evidence) =>
    first(evidence.fresh, (entry) => {
      const spent = ['reserve', 'cover', 'revoke'].includes(entry.type) ? entry.grant_ids : [];
      return spent.some((id) => (evidence.grants.get(id)?.expires_ms ?? Infinity) <= entry.at_ms);
    }),

  'no admission exceeds the limit of its key': (evidence, memory) =>
    first(evidence.fresh, (entry) => entry.type === 'reserve' && exceedsKey(evidence, memory, entry)),

  'credits go back to the grants they came from': (evidence) =>
    first(evidence.fresh, (entry) => {
      const hold = evidence.holds.get(entry.hold ?? '');
      return isEnd(entry) && (hold === undefined || !returnsToItsGrants(hold, entry));
    }),

  'entries have no gap, follow in time, and never change': (evidence) => {
    if (evidence.rewritten.length > 0) return `old entries of ${evidence.rewritten.join()} have changed`;
    return first(evidence.fresh, (entry) => {
      const before = evidence.entries.get(entry.account)?.[entry.number - 2];
      if (before === undefined) return entry.number !== 1;
      return before.number !== entry.number - 1 || before.at_ms > entry.at_ms;
    });
  },

  'a reference is granted once': ({ grants }) => {
    const references = [...grants.values()].flatMap(({ reference }) => reference ?? []);
    return first(references, (reference) => references.indexOf(reference) !== references.lastIndexOf(reference));
  },
};

const FIGURES = ['granted', 'available', 'reserved', 'charged', 'lapsed'] as const;

function first<Item>(items: Iterable<Item>, isWrong: (item: Item) => boolean): string | undefined {
  for (const item of items) if (isWrong(item)) return show(item);
  return undefined;
}

function show(item: unknown): string {
  return JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

function reservedBy(entry: EntryRow): bigint {
  return entry.reserved;
}

/** What an entry put into a grant, or took out of it. */
function partOf(entry: EntryRow, grantId: string): bigint {
  return sum(entry.parts.filter((_, place) => entry.grant_ids[place] === grantId));
}

function isEnd({ type }: EntryRow): boolean {
  return type === 'settle' || type === 'refund';
}

function debtBy(entry: EntryRow): bigint {
  if (entry.type === 'charge') return entry.charged;
  return entry.type === 'cover' ? sum(entry.parts) : 0n;
}

function settledNow(evidence: Evidence): readonly HoldRow[] {
  const touched = new Set(evidence.fresh.filter((entry) => entry.charged > 0n || isEnd(entry)).map(({ hold }) => hold));
  return [...evidence.holds.values()].filter((hold) => touched.has(hold.id));
}

/** By measured units, or, when the process died, by what it had metered. */
function owed(hold: HoldRow, entries: readonly EntryRow[], memory: Memory): bigint | undefined {
  const end = entries.find(isEnd);
  const known = memory.known.get(hold.name) ?? 0n;
  if (end === undefined || end.type === 'refund') return 0n;
  const tariff = memory.tariffs.get(hold.name);
  if (end.units === null) return known;
  const counts: Counts = end.units;
  return tariff && cost(tariff, counts);
}

/** Counts from the entries up to the admission: what the key holds with it, and what it has spent in the period. */
function exceedsKey(evidence: Evidence, memory: Memory, admitted: EntryRow): boolean {
  const key = evidence.holds.get(admitted.hold ?? '')?.key;
  if (key === null || key === undefined) return false;
  const setting = memory.keys[Number(nameOfKey(key).slice(1))];
  if (setting?.limit === undefined) return false;
  const sinceMs = periodStartMs(setting.reset, admitted.at_ms);
  const upToNow = (evidence.entries.get(admitted.account) ?? []).slice(0, admitted.number);
  const own = upToNow.filter((entry) => evidence.holds.get(entry.hold ?? '')?.key === key);
  const spent = own.filter((entry) => entry.at_ms >= sinceMs).map((entry) => entry.charged);
  return admitted.reserved > 0n && sum(own.map(reservedBy)) + sum(spent) > BigInt(setting.limit);
}

/** A refund returns each part whole; a settlement keeps its charge from the front of the split. */
function returnsToItsGrants(hold: HoldRow, entry: EntryRow): boolean {
  let toKeep = entry.charged;
  const expected = hold.parts.map((part) => {
    const kept = part < toKeep ? part : toKeep;
    toKeep -= kept;
    return part - kept;
  });
  return entry.grant_ids.join() === hold.grant_ids.join() && entry.parts.join() === expected.join();
}
