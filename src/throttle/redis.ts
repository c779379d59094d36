import { RENEWALS_AT_ONCE_MAX, SLOT_RENEW_EVERY_MS, SLOTS_PER_RENEWAL_MAX } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { RedisSettings } from '../redis-settings.ts';
import type { MemoryThrottle } from './memory.ts';
import type { RedisConnection } from './redis-connection.ts';
import { RedisFault } from './redis-fault.ts';
import { RedisLink } from './redis-link.ts';
import { type LimitScripts, TAKE_REPLY } from './redis-scripts.ts';
import { type SlotLease, SlotLeases } from './slot-leases.ts';
import {
  type Allowance,
  RATE_REFUSED,
  SLOT_REFUSED,
  type Throttle,
  type ThrottleResult,
  type ThrottleStatus,
  UNLIMITED,
} from './throttle.ts';

export interface RedisThrottleOptions {
  readonly settings: RedisSettings;
  readonly log: Logger;
  /** Counts this process's share while Redis is away. */
  readonly memory: MemoryThrottle;
  /** Live processes of the deployment, this one included. */
  readonly processes: () => number;
  /** By how much the test clock is ahead of the server's time. Leases of slots go by the server's own. */
  readonly offsetMs?: () => number;
  /** With another source of time, in tests. */
  readonly scripts?: LimitScripts;
}

const UNAVAILABLE: ThrottleResult = { state: 'refused', code: 'limits_unavailable' };

const MESSAGES = {
  local: {
    away: 'Redis is away: this process takes its share of every rate limit until it is back',
    back: 'Redis is back: rate limits are counted for all processes together again',
  },
  fail: {
    away: 'Redis is away: requests that have a rate limit are refused with 503 until it is back',
    back: 'Redis is back: requests that have a rate limit are served again',
  },
} as const;

/**
 * Counts for all processes of the deployment: one script in Redis takes the bucket's request and the slot in one round trip.
 * A slot is a lease, renewed in the background while its request runs, so that a process that dies loses its slots.
 */
export class RedisThrottle implements Throttle {
  readonly #options: RedisThrottleOptions;
  readonly #leases = new SlotLeases();
  readonly #link: RedisLink;
  #decidedAlone = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  private constructor(options: RedisThrottleOptions) {
    this.#options = options;
    const { settings, scripts, log } = options;
    this.#link = new RedisLink({
      address: settings.address,
      scripts,
      log,
      messages: MESSAGES[settings.whenAway],
      onOpen: (connection) => this.#register(connection),
    });
  }

  /** Resolves also when Redis is away: that is logged, and cures itself. Throws RedisFault when Redis refuses the address. */
  static async open(options: RedisThrottleOptions): Promise<RedisThrottle> {
    const throttle = new RedisThrottle(options);
    await throttle.#link.start();
    throttle.#renewLater();
    return throttle;
  }

  get status(): ThrottleStatus {
    return {
      counting: this.#link.isAway ? this.#options.settings.whenAway : 'shared',
      outages: this.#link.outages,
      decidedAlone: this.#decidedAlone,
    };
  }

  take(subject: string, allowance: Allowance): ThrottleResult | Promise<ThrottleResult> {
    const lease = allowance.concurrency === undefined ? undefined : this.#leases.make(subject);
    return this.#link.isAway ? this.#takeAlone(subject, allowance, lease) : this.#takeShared(subject, allowance, lease);
  }

  /** Slots that are still in use end with their leases. */
  close(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#link.stop();
  }

  async #takeShared(subject: string, allowance: Allowance, lease: SlotLease | undefined): Promise<ThrottleResult> {
    const { offsetMs } = this.#options;
    try {
      const reply = await this.#link.run(subject, (connection) =>
        connection.take(subject, allowance, lease?.id ?? '', offsetMs?.() ?? 0),
      );
      if (reply === TAKE_REPLY.rate) return RATE_REFUSED;
      return reply === TAKE_REPLY.slot ? SLOT_REFUSED : this.#acquired(lease);
    } catch (error) {
      if (!(error instanceof RedisFault)) throw error;
      // The same lease: a script that ran although its reply was lost has taken the slot under this id.
      return this.#takeAlone(subject, allowance, lease);
    }
  }

  /** Slots that this process took before the outage count as well. */
  #takeAlone(subject: string, { rpm, concurrency }: Allowance, lease: SlotLease | undefined): ThrottleResult {
    const { settings, processes, memory } = this.#options;
    this.#decidedAlone++;
    if (settings.whenAway === 'fail') return UNAVAILABLE;
    const shareOf = (limit: number) => Math.max(1, Math.floor(limit / processes()));
    const isFull = concurrency !== undefined && this.#leases.inUse(subject) >= shareOf(concurrency);
    if (isFull) return SLOT_REFUSED;
    const result = memory.take(subject, { rpm: shareOf(rpm), concurrency: undefined });
    return result.state === 'refused' ? result : this.#acquired(lease);
  }

  #acquired(lease: SlotLease | undefined): ThrottleResult {
    if (lease === undefined) return UNLIMITED;
    this.#leases.add(lease);
    const release = () => {
      if (this.#leases.remove(lease)) this.#link.connection?.release(lease.subject, lease.id);
    };
    return { state: 'acquired', release };
  }

  #renewLater(): void {
    if (this.#isStopped) return;
    const round = () => void this.#renewDue().then(() => this.#renewLater());
    this.#timer = setTimeout(round, SLOT_RENEW_EVERY_MS).unref();
  }

  async #renewDue(): Promise<void> {
    if (this.#link.isAway) return;
    try {
      for (const batch of batchesOf(this.#leases.due())) {
        const [subject = ''] = batch.flat().map((lease) => lease.subject);
        await this.#link.run(subject, (connection) => this.#renew(connection, batch));
      }
    } catch (error) {
      // The link has logged it. What was not renewed is registered again on the next connection.
      if (!(error instanceof RedisFault)) throw error;
    }
  }

  /** All slots in use: the server may have lost its memory, or they were taken while it was away. */
  async #register(connection: RedisConnection): Promise<void> {
    for (const batch of batchesOf(this.#leases.due({ all: true }))) await this.#renew(connection, batch);
  }

  async #renew(connection: RedisConnection, batch: readonly (readonly SlotLease[])[]): Promise<void> {
    const sentAtMs = performance.now();
    await Promise.all(
      batch.map(async (leases) => {
        const inUse = leases.filter((lease) => this.#leases.has(lease));
        const [first] = inUse;
        if (first === undefined) return;
        await connection.renew(
          first.subject,
          inUse.map(({ id }) => id),
        );
        for (const lease of inUse) {
          lease.renewedAtMs = sentAtMs;
          // Released on another connection, or on none, while this one was adding it.
          if (!this.#leases.has(lease)) connection.release(lease.subject, lease.id);
        }
      }),
    );
  }
}

/** Groups of one subject's leases, each small enough for one command, as many together as are sent at once. */
function batchesOf(groups: readonly (readonly SlotLease[])[]): (readonly SlotLease[])[][] {
  const commands = groups.flatMap((leases) => chunksOf(leases, SLOTS_PER_RENEWAL_MAX));
  return chunksOf(commands, RENEWALS_AT_ONCE_MAX);
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
