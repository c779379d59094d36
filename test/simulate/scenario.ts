import type { Counts, Sold } from './tariff.ts';

/**
 * Everything that happens in one seed, as data made before anything runs. Moments are absolute and holds are named, so
 * operations can be cut out and the rest still means the same.
 */
export interface Scenario {
  readonly seed: number;
  /** How many operations were made from the seed, whatever was cut out since. */
  readonly steps: number;
  /** Callers repeat or end a reservation while its first asking is still on its way; the gateway's own never do. */
  readonly impatient: boolean;
  readonly startMs: number;
  readonly accounts: number;
  readonly keys: readonly KeySetting[];
  readonly operations: readonly Operation[];
}

export type Reset = 'day' | 'week' | 'month';

/** Calendar periods in UTC; a week begins on Monday. */
export function periodStartMs(reset: Reset | undefined, atMs: number): number {
  if (reset === undefined) return -Infinity;
  const at = new Date(atMs);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (reset === 'month') return Date.UTC(year, month, 1);
  return Date.UTC(year, month, reset === 'day' ? day : day - ((at.getUTCDay() + 6) % 7));
}

export interface KeySetting {
  readonly account: number;
  readonly limit: number | undefined;
  readonly reset: Reset | undefined;
}

export const PROCESSES = 3;

/** How a verb reaches the ledger: a synchronous call's bill, group commit, or a job's own transaction. */
export type Way = 'bill' | 'batch' | 'job';

export type Move =
  | Reserving
  | { readonly kind: 'settle'; readonly hold: string; readonly counts: Counts; readonly way: Way; readonly by: number }
  | { readonly kind: 'refund'; readonly hold: string; readonly way: Way; readonly by: number }
  | Granting
  | { readonly kind: 'takeOver'; readonly by: number }
  | { readonly kind: 'lapse'; readonly by: number };

export interface Reserving {
  readonly kind: 'reserve';
  /** A name that was used before makes it a repeat. */
  readonly hold: string;
  readonly account: number;
  readonly key: number | undefined;
  readonly sold: Sold;
  readonly counts: Counts;
  readonly way: Way;
  readonly by: number;
  /** A repeat that asks for something else under the same id. */
  readonly altered: boolean;
}

export interface Granting {
  readonly kind: 'grant';
  readonly name: string;
  readonly account: number;
  readonly amount: number;
  readonly expiresMs: number | undefined;
  readonly reference: string | undefined;
  readonly by: number;
}

/** The line between a process and the database is cut, before or after the commit; the process may die of it. */
export interface Fault {
  readonly by: number;
  readonly when: 'before' | 'after';
  readonly dies: boolean;
}

export type Operation =
  /** All moves at once. */
  | { readonly kind: 'moves'; readonly moves: readonly Move[]; readonly fault: Fault | undefined }
  | { readonly kind: 'clock'; readonly toMs: number }
  | { readonly kind: 'skew'; readonly by: number; readonly skewMs: number }
  | { readonly kind: 'price'; readonly sold: Sold; readonly rates: readonly [number, number] }
  | { readonly kind: 'meter'; readonly hold: string; readonly counts: Counts }
  | { readonly kind: 'extend'; readonly by: number }
  | { readonly kind: 'die'; readonly by: number }
  | { readonly kind: 'look'; readonly account: number; readonly by: number };

/** One short line per operation. */
export function show(operation: Operation): string {
  switch (operation.kind) {
    case 'moves': {
      const { moves, fault } = operation;
      const cut = fault && ` [p${fault.by} cut ${fault.when} commit${fault.dies ? ', dies' : ''}]`;
      return moves.map(showMove).join(' | ') + (cut ?? '');
    }
    case 'clock':
      return `clock ${new Date(operation.toMs).toISOString()}`;
    case 'skew':
      return `p${operation.by} clock ${operation.skewMs >= 0 ? '+' : ''}${operation.skewMs} ms`;
    case 'price':
      return `price ${operation.sold} ${operation.rates.join('/')}`;
    case 'meter':
      return `meter ${operation.hold} ${showCounts(operation.counts)}`;
    case 'extend':
    case 'die':
      return `p${operation.by} ${operation.kind}s`;
    case 'look':
      return `look a${operation.account}`;
  }
}

function showMove(move: Move): string {
  const by = `p${move.by}`;
  switch (move.kind) {
    case 'reserve': {
      const key = move.key === undefined ? '' : ` k${move.key}`;
      const what = `${move.hold} a${move.account}${key} ${move.sold} ${showCounts(move.counts)}`;
      return `${by} reserve ${what} ${move.way}${move.altered ? ' altered' : ''}`;
    }
    case 'settle':
      return `${by} settle ${move.hold} ${showCounts(move.counts)} ${move.way}`;
    case 'refund':
      return `${by} refund ${move.hold} ${move.way}`;
    case 'grant': {
      const until = move.expiresMs === undefined ? '' : ` until ${new Date(move.expiresMs).toISOString()}`;
      return `${by} grant ${move.name} a${move.account} ${move.amount}${until} ${move.reference ?? ''}`.trimEnd();
    }
    case 'takeOver':
    case 'lapse':
      return `${by} ${move.kind}`;
  }
}

function showCounts({ images, inputTokens, outputTokens }: Counts): string {
  return images === undefined ? `${inputTokens}+${outputTokens}t` : `${images}i`;
}
