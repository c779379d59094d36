import type { ENDPOINTS } from '../configuration/index.ts';
import type { MicroCredits } from '../credits.ts';

/** Kinds of work, and uploads for it. Estimates are not logged: a form asks for one at every change. */
export type LoggedEndpoint = (typeof ENDPOINTS)[number] | 'files';

/** A request that has ended. */
export interface RequestLine {
  /** From `timedUuid` at `createdAt`: lists are in the order of ids. */
  readonly id: string;
  readonly createdAt: Date;
  readonly accountId: string;
  /** An API key or an OAuth grant; undefined for the console. */
  readonly keyId: string | undefined;
  /** Who ran it in the console. */
  readonly personId: string | undefined;
  readonly requestId: string;
  readonly endpoint: LoggedEndpoint;
  /** As it was asked for; such a model need not exist. */
  readonly model: string | undefined;
  readonly status: number;
  readonly errorCode: string | undefined;
  readonly durationMs: number;
  readonly isStreamed: boolean;
  readonly upstreamId: string | undefined;
  /** What it cost is found in the ledger by this. */
  readonly reservationId: string | undefined;
  readonly jobId: string | undefined;
  /** What a settled call cost the operator, where its route states that. */
  readonly cost: MicroCredits | undefined;
  /** Refused before any rate limit admitted it, so that a flood is possible: such lines are summed up per minute. */
  readonly isRepeatable: boolean;
}
