import { CLAIM_TOLERANCE, OPEN_LENGTH_FACTOR } from '../limits.ts';
import type { Estimate } from './measure.ts';

/** How long one result was ordered to be, and the most that is charged of it as it is measured. */
export interface LengthOrder {
  readonly heldMs: number;
  readonly mostMs: number;
}

export function lengthOrder({ milliseconds = 0, isOpenEnded = false }: Estimate, results: number): LengthOrder {
  const heldMs = milliseconds / results;
  const { share, milliseconds: slackMs } = CLAIM_TOLERANCE;
  return { heldMs, mostMs: (isOpenEnded ? heldMs * OPEN_LENGTH_FACTOR : heldMs * (1 + share)) + slackMs };
}

/** What is charged of a result: its length, or what was held where it is longer than anything that was ordered. */
export function boundLength(milliseconds: number, { heldMs, mostMs }: LengthOrder): number {
  return milliseconds > mostMs ? Math.ceil(heldMs) : milliseconds;
}

/** Undefined where the length is within the order; else the words for the operator. */
export function lengthExcess(milliseconds: number, { heldMs, mostMs }: LengthOrder): string | undefined {
  if (milliseconds <= mostMs) return undefined;
  return `delivers ${milliseconds / 1000} seconds on an order of ${heldMs / 1000}`;
}
