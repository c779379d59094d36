import type { Db } from '../../src/db/index.ts';

export interface BalanceRow {
  readonly account: string;
  readonly granted: bigint;
  readonly available: bigint;
  readonly reserved: bigint;
  readonly charged: bigint;
  readonly lapsed: bigint;
  readonly debt: bigint;
  readonly entries: number;
  readonly at_ms: number;
}

export interface GrantRow {
  readonly account: string;
  readonly id: string;
  readonly name: string;
  readonly amount: bigint;
  readonly remaining: bigint;
  readonly reference: string | null;
  readonly expires_ms: number | null;
}

export interface KeyRow {
  readonly account: string;
  readonly id: string;
  readonly held: bigint;
  readonly spent_in_period: bigint;
}

export interface HoldRow {
  readonly account: string;
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly amount: bigint;
  readonly grant_ids: readonly string[];
  readonly parts: readonly bigint[];
  readonly is_open: boolean;
  readonly known: bigint;
}

export interface EntryRow {
  readonly account: string;
  readonly number: number;
  readonly type: 'grant' | 'revoke' | 'reserve' | 'settle' | 'refund' | 'charge' | 'cover' | 'lapse';
  readonly granted: bigint;
  readonly available: bigint;
  readonly reserved: bigint;
  readonly charged: bigint;
  readonly lapsed: bigint;
  readonly balance: bigint;
  readonly at_ms: number;
  readonly hold: string | null;
  readonly grant_ids: readonly string[];
  readonly parts: readonly bigint[];
  readonly units: Readonly<Record<string, number>> | null;
}

/** The entries of an account that were there at the last look, then and now, as one number. */
interface Digest {
  readonly account: string;
  readonly before: string | null;
  readonly now: string | null;
}

/** What the database holds of one world, and what it held at the last look. Entries are read once each. */
export class Evidence {
  readonly accountIds: readonly string[];
  balances: readonly BalanceRow[] = [];
  grants: ReadonlyMap<string, GrantRow> = new Map();
  keys: readonly KeyRow[] = [];
  holds: ReadonlyMap<string, HoldRow> = new Map();
  /** By account, in order of number. */
  readonly entries = new Map<string, EntryRow[]>();
  /** Of each reservation. */
  readonly entriesOf = new Map<string, EntryRow[]>();
  /** Since the last look. */
  fresh: readonly EntryRow[] = [];
  /** Accounts whose old entries are not what they were. */
  rewritten: readonly string[] = [];
  readonly #digests = new Map<string, string | null>();

  constructor(accountIds: readonly string[]) {
    this.accountIds = accountIds;
    for (const account of accountIds) this.entries.set(account, []);
  }

  async look(db: Db): Promise<void> {
    const seen = this.accountIds.map((account) => this.entries.get(account)?.length ?? 0);
    const [row] = await db.rows<{ seen: Rows }>(LOOK, [this.accountIds, seen]);
    if (row === undefined) throw new Error('A select without a table gave no row.');
    this.#keep(row.seen);
  }

  #keep(rows: Rows): void {
    this.balances = rows.balances.map((balance) => withAmounts(balance, FIGURES));
    const grants = rows.grants.map((grant) => withAmounts(grant, ['amount', 'remaining']));
    this.grants = new Map(grants.map((grant) => [grant.id, grant]));
    this.keys = rows.keys.map((key) => withAmounts(key, ['held', 'spent_in_period']));
    const holds = rows.holds.map((hold) => withAmounts(hold, ['amount', 'known', 'parts']));
    this.holds = new Map(holds.map((hold) => [hold.id, hold]));
    this.fresh = rows.entries.map((entry) => withAmounts(entry, [...FIGURES, 'balance', 'parts']));
    for (const entry of this.fresh) {
      this.entries.get(entry.account)?.push(entry);
      if (entry.hold !== null) this.entriesOf.set(entry.hold, [...(this.entriesOf.get(entry.hold) ?? []), entry]);
    }
    this.rewritten = rows.digests
      .filter(({ account, before }) => before !== (this.#digests.get(account) ?? null))
      .map(({ account }) => account);
    for (const { account, now } of rows.digests) this.#digests.set(account, now);
  }

  /** As `describe` of the model, from the rows. */
  describe(account: string): string[] {
    const balance = this.balances.find((row) => row.account === account);
    if (balance === undefined) return ['no balance'];
    const { granted, available, reserved, charged, lapsed, debt, at_ms } = balance;
    const ours = <Row extends { readonly account: string }>(rows: Iterable<Row>) =>
      [...rows].filter((row) => row.account === account);
    return [
      `granted ${granted} available ${available} reserved ${reserved} charged ${charged} lapsed ${lapsed}` +
        ` debt ${debt} at ${new Date(at_ms).toISOString()}`,
      ...ours(this.grants.values()).map((grant) => `${grant.name} has ${grant.remaining} of ${grant.amount}`),
      ...ours(this.holds.values())
        .map((hold) => this.#describeHold(hold))
        .sort(),
      ...ours(this.keys)
        .map((key) => `${nameOfKey(key.id)} held ${key.held} spent ${key.spent_in_period}`)
        .sort(),
    ];
  }

  #describeHold(hold: HoldRow): string {
    const entries = this.entriesOf.get(hold.id) ?? [];
    const end = entries.find((entry) => entry.type === 'settle' || entry.type === 'refund');
    const state = hold.is_open || end === undefined ? 'open' : end.type === 'settle' ? 'settled' : 'refunded';
    const charged = entries.reduce((sum, entry) => sum + entry.charged, 0n);
    const known = hold.is_open ? ` known ${hold.known}` : '';
    return `${hold.name} ${hold.amount} ${this.showSplit(hold.grant_ids, hold.parts)} ${state} ${charged}${known}`;
  }

  showSplit(grantIds: readonly string[], parts: readonly bigint[]): string {
    const shown = grantIds.map((id, place) => `${this.grants.get(id)?.name ?? id}:${parts[place]}`);
    return ['admitted', ...shown].join(' ');
  }
}

/** Keys end in their scenario's name. */
export function nameOfKey(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

const FIGURES = ['granted', 'available', 'reserved', 'charged', 'lapsed', 'debt'] as const;

interface Rows {
  readonly balances: readonly BalanceRow[];
  readonly grants: readonly GrantRow[];
  readonly keys: readonly KeyRow[];
  readonly holds: readonly HoldRow[];
  readonly entries: readonly EntryRow[];
  readonly digests: readonly Digest[];
}

/** JSON numbers become the bigints that their type says. The simulator's amounts are far below 2^53. */
function withAmounts<Row extends object>(row: Row, names: readonly string[]): Row {
  const amounts = Object.entries(row)
    .filter(([name]) => names.includes(name))
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(BigInt) : BigInt(value)]);
  return { ...row, ...Object.fromEntries(amounts) };
}

// One round trip, and only the new entries.
const LOOK = `
  with ours as (select * from unnest($1::text[], $2::bigint[]) as o (account, seen))
  select json_build_object(
    'balances', (select coalesce(json_agg(row), '[]') from (
      select account, granted, available, reserved, charged, lapsed, debt, entries,
        (extract(epoch from updated_at) * 1000)::bigint as at_ms
      from ours join balances on account_id = account) as row),
    'grants', (select coalesce(json_agg(row), '[]') from (
      select account, id, source as name, amount, remaining, reference,
        (extract(epoch from expires_at) * 1000)::bigint as expires_ms
      from ours join grants on account_id = account order by number) as row),
    'keys', (select coalesce(json_agg(row), '[]') from (
      select account, key_id as id, held,
        spent_in_period(key_spending, credit_limit_reset, balances.updated_at) as spent_in_period
      from ours join balances on balances.account_id = account join (
          select id, account_id, credit_limit_reset from api_keys
          union all select id, account_id, credit_limit_reset from oauth_grants
        ) as spender on spender.account_id = account
        join key_spending on key_id = spender.id) as row),
    'holds', (select coalesce(json_agg(row), '[]') from (
      select account, id, request_id as name, key_id as key, amount, grant_ids, parts,
        reservation_id is not null as is_open, coalesce(known, 0) as known
      from ours join reservations on account_id = account left join open_reservations on reservation_id = id) as row),
    'entries', (select coalesce(json_agg(row), '[]') from (
      select account, number, type, granted, available, reserved, charged, lapsed, balance,
        (extract(epoch from created_at) * 1000)::bigint as at_ms, reservation_id as hold, grant_ids, parts, units
      from ours join ledger_entries on account_id = account and number > seen order by account, number) as row),
    'digests', (select coalesce(json_agg(row), '[]') from (
      select account, (bit_xor(hashtextextended(e::text, 0)) filter (where number <= seen))::text as before,
        bit_xor(hashtextextended(e::text, 0))::text as now
      from ours join ledger_entries e on account_id = account group by account) as row)
  ) as seen`;
