import { Random } from '../../packages/verify/src/random.ts';
import {
  type Fault,
  type Granting,
  type KeySetting,
  type Move,
  type Operation,
  PROCESSES,
  type Reserving,
  type Scenario,
  type Way,
} from './scenario.ts';
import type { Counts, Sold } from './tariff.ts';

const SECOND = 1000;
const DAY = 86_400 * SECOND;
/** Longer than a lease. */
const SILENCE_MS = 31 * SECOND;

// Shortly before the ends of a month, a leap day, a week and a year; and an ordinary noon.
const STARTS = [
  '2027-01-31T23:59:30Z',
  '2028-02-29T23:59:00Z',
  '2026-11-29T23:59:40Z',
  '2026-12-31T23:58:00Z',
  '2026-06-17T12:00:00Z',
];

/** How long grants live; undefined is for ever. */
const LIVES_MS = [
  undefined,
  undefined,
  undefined,
  0,
  1,
  20 * SECOND,
  40 * SECOND,
  600 * SECOND,
  DAY,
  10 * DAY,
  60 * DAY,
];

const KINDS = {
  single: 34,
  parallel: 24,
  grant: 11,
  clock: 12,
  skew: 3,
  price: 4,
  meter: 6,
  extend: 3,
  takeOver: 4,
  lapse: 2,
  die: 2,
  look: 3,
} as const;

const MOVES = { reserve: 40, settle: 34, refund: 12, repeat: 8, grant: 3, takeOver: 2, lapse: 1 } as const;

/** The same seed and size give the same scenario, always. */
export function generate(seed: number, steps: number, impatient = false): Scenario {
  return { ...new Author(seed).write(steps), steps, impatient };
}

class Author {
  readonly #seed: number;
  readonly #random: Random;
  readonly #startMs: number;
  readonly #accounts: number;
  readonly #keys: readonly KeySetting[];
  readonly #reserving: Reserving[] = [];
  readonly #grants: Granting[] = [];
  #nowMs: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#startMs = Date.parse(this.#random.pick(STARTS));
    this.#nowMs = this.#startMs;
    this.#accounts = this.#random.whole(1, 3);
    this.#keys = Array.from({ length: this.#random.whole(1, 4) }, () => this.#key());
  }

  write(steps: number): Omit<Scenario, 'steps' | 'impatient'> {
    const opening = Array.from({ length: this.#accounts }, (_, account) => this.#alone(this.#grant(account)));
    const rest = Array.from({ length: Math.max(0, steps - opening.length) }, () => this.#operation());
    const operations = [...opening, ...rest];
    return { seed: this.#seed, startMs: this.#startMs, accounts: this.#accounts, keys: this.#keys, operations };
  }

  #operation(): Operation {
    const random = this.#random;
    const kind = random.weighted(KINDS);
    const by = this.#process();
    switch (kind) {
      case 'single':
        return this.#alone(this.#move());
      case 'parallel':
        return this.#parallel();
      case 'grant':
        return this.#alone(this.#grantOrTake(this.#account()));
      case 'clock':
        return this.#clock();
      case 'skew':
        return { kind, by, skewMs: random.whole(-3000, 3000) };
      case 'price':
        return this.#price();
      case 'meter':
        return this.#meter();
      case 'takeOver':
      case 'lapse':
        return { kind: 'moves', moves: [{ kind, by }], fault: undefined };
      case 'extend':
      case 'die':
        return { kind, by };
      case 'look':
        return { kind, account: this.#account(), by };
    }
  }

  #alone(move: Move): Operation {
    const fault = this.#random.chance(0.12) ? this.#fault(move.by) : undefined;
    return { kind: 'moves', moves: [move], fault };
  }

  /** Mostly on one account, where the moves meet. */
  #parallel(): Operation {
    const random = this.#random;
    const account = random.chance(0.7) ? this.#account() : undefined;
    const moves = Array.from({ length: random.whole(2, 7) }, () => this.#move(account));
    return { kind: 'moves', moves, fault: random.chance(0.15) ? this.#fault(this.#process()) : undefined };
  }

  #fault(by: number): Fault {
    return { by, when: this.#random.chance(0.5) ? 'before' : 'after', dies: this.#random.chance(0.5) };
  }

  #move(account = this.#account()): Move {
    const random = this.#random;
    const kind = random.weighted(MOVES);
    const by = this.#process();
    if (kind === 'takeOver' || kind === 'lapse') return { kind, by };
    if (kind === 'grant') return this.#grantOrTake(account);
    const earlier = this.#earlier(account);
    if (kind === 'reserve' || earlier === undefined) return this.#reserve(account);
    // A call ends the way it began, and sometimes another process interferes.
    const way = random.chance(0.7) ? earlier.way : this.#way();
    const who = random.chance(0.6) ? earlier.by : by;
    if (kind === 'refund') return { kind, hold: earlier.hold, way, by: who };
    if (kind === 'settle') return { kind, hold: earlier.hold, counts: this.#actual(earlier.counts), way, by: who };
    return { ...earlier, way: earlier.way === 'bill' ? 'batch' : earlier.way, by, altered: random.chance(0.15) };
  }

  #reserve(account: number): Reserving {
    const random = this.#random;
    const keys = [...this.#keys.keys()].filter((key) => this.#keys[key]?.account === account);
    const key = keys.length > 0 && random.chance(0.75) ? random.pick(keys) : undefined;
    const sold: Sold = random.chance(0.6) ? 'image' : 'chat';
    const hold = `h${this.#reserving.length}`;
    const rest = { way: this.#way(), by: this.#process(), altered: false } as const;
    const reserving: Reserving = { kind: 'reserve', hold, account, key, sold, counts: this.#estimate(sold), ...rest };
    this.#reserving.push(reserving);
    return reserving;
  }

  #earlier(account: number): Reserving | undefined {
    const recent = this.#reserving.filter((reserving) => reserving.account === account).slice(-8);
    return recent.length === 0 ? undefined : this.#random.pick(recent);
  }

  #estimate(sold: Sold): Counts {
    const random = this.#random;
    if (sold === 'image') return { images: random.chance(0.05) ? 0 : random.whole(1, 12) };
    return { inputTokens: random.whole(0, 900), outputTokens: random.whole(1, 2500) };
  }

  /** Nothing, less than estimated, exactly that, or more. */
  #actual(counts: Counts): Counts {
    const times = this.#random.pick([0, 0.3, 0.7, 1, 1, 1.4, 3]);
    const scaled = Object.entries(counts).map(([unit, count]) => [unit, Math.round(count * times)]);
    return Object.fromEntries(scaled);
  }

  #grant(account: number): Granting {
    const random = this.#random;
    // A fifth repeat a reference that may be taken already.
    const earlier = this.#grants.length > 0 && random.chance(0.2) ? random.pick(this.#grants).reference : undefined;
    const name = `g${this.#grants.length}`;
    const reference = earlier ?? (random.chance(0.6) ? `ref${this.#grants.length}` : undefined);
    const lifeMs = random.pick(LIVES_MS);
    const expiresMs = lifeMs === undefined ? undefined : this.#nowMs + lifeMs;
    const amount = random.whole(1, 40) * 1000 + (random.chance(0.3) ? random.whole(1, 999) : 0);
    const granting: Granting = { kind: 'grant', name, account, amount, expiresMs, reference, by: this.#process() };
    this.#grants.push(granting);
    return granting;
  }

  /** A quarter of them take credits back. */
  #grantOrTake(account: number): Granting {
    const granting = this.#grant(account);
    if (!this.#random.chance(0.25)) return granting;
    const taking: Granting = { ...granting, amount: -this.#random.whole(1, 20_000), expiresMs: undefined };
    this.#grants[this.#grants.length - 1] = taking;
    return taking;
  }

  #clock(): Operation {
    const random = this.#random;
    const now = this.#nowMs;
    const midnight = (Math.floor(now / DAY) + 1) * DAY;
    const expiries = this.#grants.map((grant) => grant.expiresMs ?? 0).filter((moment) => moment > now);
    const targets = [
      now + random.whole(1, 3000),
      now + SILENCE_MS,
      midnight - 1,
      midnight,
      now + 7 * DAY,
      now + 31 * DAY,
    ];
    const weights = { 0: 6, 1: 5, 2: 1, 3: 2, 4: 0.6, 5: 0.4 };
    const exact = expiries.length > 0 && random.chance(0.25);
    const toMs = exact ? random.pick(expiries) + random.whole(-1, 0) : targets[Number(random.weighted(weights))];
    this.#nowMs = Math.max(now, toMs ?? now);
    return { kind: 'clock', toMs: this.#nowMs };
  }

  #price(): Operation {
    const random = this.#random;
    if (random.chance(0.5)) return { kind: 'price', sold: 'image', rates: [random.whole(500_000, 2_000_000), 0] };
    return { kind: 'price', sold: 'chat', rates: [random.whole(1, 3_000_000), random.whole(1, 6_000_000)] };
  }

  #meter(): Operation {
    const earlier = this.#earlier(this.#account());
    if (earlier === undefined) return this.#clock();
    return { kind: 'meter', hold: earlier.hold, counts: this.#actual(earlier.counts) };
  }

  #key(): KeySetting {
    const random = this.#random;
    const limit = random.chance(0.8) ? random.whole(2, 30) * 1000 : undefined;
    return { account: this.#account(), limit, reset: random.pick([undefined, 'day', 'week', 'month']) };
  }

  #account(): number {
    return this.#random.whole(0, this.#accounts - 1);
  }

  #process(): number {
    return this.#random.whole(0, PROCESSES - 1);
  }

  #way(): Way {
    return this.#random.weighted({ bill: 4, batch: 3, job: 3 });
  }
}
