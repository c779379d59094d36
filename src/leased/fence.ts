/** A record that this process leases. A higher fence in the database means that another process has taken it since. */
export interface Fenced {
  readonly id: string;
  readonly fence: number;
}

/** The fence has moved: another process has the record now, and nothing more may be written about it here. */
export class LostLease extends Error {}

/**
 * Holds a write to having found every record of its batch under the expected fence. Throws LostLease: a transaction
 * rolls back, and group commit runs the batch again one by one.
 */
export function requireLeased(batch: readonly unknown[], found: { readonly size: number }): void {
  if (found.size < batch.length) throw new LostLease();
}
