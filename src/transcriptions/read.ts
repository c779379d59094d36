import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { asOf, type TranscriptionRecord } from './record.ts';
import { expireSome, selectRecord } from './store.ts';

/** Only reads. Throws `transcription_not_found`, alike for what is not there and what is somebody else's. */
export async function getTranscription(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  accountId: string,
  id: string,
): Promise<TranscriptionRecord> {
  const now = clock.now();
  const record = await selectRecord(db, accountId, id, now);
  if (record === undefined) throw new ApiError('transcription_not_found');
  return asOf(record, now);
}

const PER_TURN_MAX = 100;

interface ExpiryParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Clears results whose time is over. Any process may do it at any time. */
export async function expireTranscripts({ db, clock, log }: ExpiryParts): Promise<void> {
  const now = clock.now();
  log.trace('transcripts to be cleared');
  while ((await expireSome(db, now, PER_TURN_MAX)) === PER_TURN_MAX) {}
  log.trace('transcripts cleared');
}
