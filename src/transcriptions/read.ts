import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import type { Logger } from '../log.ts';
import { asOf, isOver, type ListedTranscription, type TranscriptionRecord } from './record.ts';
import { expireSome, type RecordPage, selectRecord, selectRecords } from './store.ts';

interface ReadDeps {
  readonly db: Db;
  readonly clock: Clock;
}

/** Only reads. Throws `transcription_not_found`, alike for what is not there and what is another account's. */
export async function getTranscription(
  { db, clock }: ReadDeps,
  accountId: string,
  id: string,
): Promise<TranscriptionRecord> {
  const now = clock.now();
  const record = await selectRecord(db, accountId, id, now);
  if (record === undefined) throw new ApiError('transcription_not_found');
  return asOf(record, now);
}

/** Newest first, without what was heard. */
export async function listTranscriptions(
  { db, clock }: ReadDeps,
  accountId: string,
  page: RecordPage,
): Promise<ListedTranscription[]> {
  const now = clock.now();
  const records = await selectRecords(db, accountId, page);
  return records.map((record) => (isOver(record, now) ? { ...record, status: 'expired' } : record));
}

const PER_TURN_MAX = 100;

interface ExpiryDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Clears results whose time is over. Any process may do it at any time. */
export async function expireTranscripts({ db, clock, log }: ExpiryDeps): Promise<void> {
  const now = clock.now();
  killPoint(log, 'transcription.expiry.before-commit');
  while ((await expireSome(db, now, PER_TURN_MAX)) === PER_TURN_MAX) {}
  killPoint(log, 'transcription.expiry.after-commit');
}
