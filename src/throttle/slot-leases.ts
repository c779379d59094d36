import { randomBytes } from 'node:crypto';
import { SLOT_RENEW_EVERY_MS } from '../limits.ts';

/** A slot in use by this process. Redis forgets it unless it is renewed. */
export interface SlotLease {
  readonly subject: string;
  readonly id: string;
  renewedAtMs: number;
}

/** The slots that this process uses, by subject. As many as requests are running. */
export class SlotLeases {
  readonly #process = randomBytes(6).toString('base64url');
  readonly #bySubject = new Map<string, Set<SlotLease>>();
  #count = 0;

  /** A lease that is not in use yet. Its id is unique among all processes. */
  make(subject: string): SlotLease {
    this.#count++;
    return { subject, id: `${this.#process}.${this.#count.toString(36)}`, renewedAtMs: performance.now() };
  }

  add(lease: SlotLease): void {
    const leases = this.#bySubject.get(lease.subject);
    if (leases === undefined) this.#bySubject.set(lease.subject, new Set([lease]));
    else leases.add(lease);
  }

  /** False when it was not in use. */
  remove(lease: SlotLease): boolean {
    const leases = this.#bySubject.get(lease.subject);
    const isRemoved = leases?.delete(lease) === true;
    if (leases?.size === 0) this.#bySubject.delete(lease.subject);
    return isRemoved;
  }

  has(lease: SlotLease): boolean {
    return this.#bySubject.get(lease.subject)?.has(lease) === true;
  }

  inUse(subject: string): number {
    return this.#bySubject.get(subject)?.size ?? 0;
  }

  /** Those of each subject that were taken or renewed long enough ago to be renewed; all of them with `all`. */
  due({ all = false } = {}): SlotLease[][] {
    const beforeMs = all ? Number.POSITIVE_INFINITY : performance.now() - SLOT_RENEW_EVERY_MS;
    return [...this.#bySubject.values()]
      .map((leases) => [...leases].filter(({ renewedAtMs }) => renewedAtMs <= beforeMs))
      .filter((leases) => leases.length > 0);
  }
}
