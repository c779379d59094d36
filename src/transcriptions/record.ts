import type { MicroCredits } from '../credits.ts';
import type { ErrorCode } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Fenced } from '../leased/index.ts';
import type { FrozenPrice } from '../pricing/index.ts';
import type { TranscriptionRequest } from '../schemas/index.ts';
import type { Transcript } from '../vendors/index.ts';

export type Status = 'pending' | 'processing' | 'completed' | 'failed' | 'unavailable' | 'expired';
export type SettlementState = 'pending' | 'unknown' | 'settled' | 'released';

const NEXT_STATUS: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['processing'],
  processing: ['completed', 'failed', 'unavailable'],
  completed: ['expired'],
  failed: [],
  unavailable: [],
  expired: [],
};

const NEXT_SETTLEMENT: Readonly<Record<SettlementState, readonly SettlementState[]>> = {
  pending: ['settled', 'released', 'unknown'],
  unknown: ['settled', 'released'],
  settled: [],
  released: [],
};

/** From where a record may come to this status; every write asks for one of these. */
export function statusesBefore(status: Status): Status[] {
  return keysOf(NEXT_STATUS).filter((from) => NEXT_STATUS[from].includes(status));
}

/** The same of its money. */
export function settlementsBefore(state: SettlementState): SettlementState[] {
  return keysOf(NEXT_SETTLEMENT).filter((from) => NEXT_SETTLEMENT[from].includes(state));
}

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(table) as Key[];
}

/** How an answer was wanted: what of a request outlives it. Records from before translations have no task. */
export type Wanted = Pick<TranscriptionRequest, 'responseFormat' | 'language' | 'temperature' | 'granularities'> &
  Partial<Pick<TranscriptionRequest, 'task'>>;

/** A record that this process works on. */
export interface LeasedRecord extends Fenced {
  readonly wanted: Wanted;
  /** Null for a clip that is not in the store. */
  readonly objectKey: string | null;
  readonly seconds: number;
  readonly reservationId: string;
  /** That the credits were held at. */
  readonly price: FrozenPrice;
  readonly createdAt: Date;
  readonly upstreamId: string | null;
  readonly upstreamModel: string | null;
  readonly task: JsonObject | null;
}

/** How the work on a record ended. */
export type Outcome =
  /** `json` is the transcript as it is saved. */
  | { readonly status: 'completed'; readonly transcript: Transcript; readonly json: string }
  | { readonly status: 'failed' | 'unavailable'; readonly code: ErrorCode; readonly cause?: unknown };

/** What the account that asked may read of it. */
export interface TranscriptionRecord {
  readonly id: string;
  readonly model: string;
  readonly status: Status;
  readonly settlementState: SettlementState;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly errorCode: ErrorCode | null;
  readonly result: SavedResult | null;
}

/** The same in a list: what was heard is asked for one by one. */
export interface ListedTranscription extends Omit<TranscriptionRecord, 'result'> {
  readonly seconds: number;
  readonly charged: MicroCredits | null;
}

/** What was heard, and what that cost. */
export interface SavedResult {
  readonly transcript: Transcript;
  readonly wanted: Wanted;
  /** As they were charged. */
  readonly seconds: number;
  readonly charged: MicroCredits;
}

/** A record read after its time is expired, also before the clean-up has cleared it. */
export function asOf(record: TranscriptionRecord, now: Date): TranscriptionRecord {
  return isOver(record, now) ? { ...record, status: 'expired', result: null } : record;
}

/** Also before it was cleared. */
export function isOver({ status, expiresAt }: Pick<TranscriptionRecord, 'status' | 'expiresAt'>, now: Date): boolean {
  return status === 'completed' && expiresAt !== null && expiresAt <= now;
}
