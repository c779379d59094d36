import type { Db } from '../db/index.ts';

/** Work that waits, over the whole deployment. */
export interface Backlog {
  readonly jobs: readonly { readonly kind: string; readonly status: string; readonly count: number }[];
  /** How long the job that is due longest has not been taken; 0 when none is due. */
  readonly oldestDueSeconds: number;
  readonly transcriptions: number;
  /** Lines of the journal that are no entries yet, counted up to JOURNAL_LINES_COUNTED. */
  readonly journalLines: number;
  readonly oldestLineSeconds: number;
  /** The last check of the books; undefined before the first. */
  readonly books: { readonly balanced: boolean; readonly ageSeconds: number } | undefined;
}

const JOURNAL_LINES_COUNTED = 10_000;

/** A statement over each table of what is open, none of which grows with the history. Throws DatabaseUnavailable. */
export async function readBacklog(db: Db, now: Date): Promise<Backlog> {
  const jobs = await db.rows<Backlog['jobs'][number]>(
    `select kind, status, count(*)::int as count from open_jobs join jobs on jobs.id = job_id group by kind, status`,
  );
  const [row] = await db.rows<BacklogRow>(BACKLOG, [now, JOURNAL_LINES_COUNTED]);
  const seconds = (since: Date | null | undefined) =>
    since == null ? 0 : Math.max(0, (now.getTime() - since.getTime()) / 1000);
  return {
    jobs,
    oldestDueSeconds: seconds(row?.oldestDueAt),
    transcriptions: row?.transcriptions ?? 0,
    journalLines: row?.journalLines ?? 0,
    oldestLineSeconds: seconds(row?.oldestLineAt),
    books: row?.checkedAt == null ? undefined : { balanced: row.balanced === true, ageSeconds: seconds(row.checkedAt) },
  };
}

interface BacklogRow {
  readonly oldestDueAt: Date | null;
  readonly transcriptions: number;
  readonly journalLines: number;
  readonly oldestLineAt: Date | null;
  readonly checkedAt: Date | null;
  readonly balanced: boolean | null;
}

const BACKLOG = `
  select (select min(due_at) from open_jobs where due_at <= $1) as "oldestDueAt",
    (select count(*)::int from transcriptions where status in ('pending', 'processing')) as transcriptions,
    journal.*, checks.*
  from (
    select count(*)::int as "journalLines",
      to_timestamp(min((line.changes -> 0 ->> 'at_ms')::float8) / 1000) as "oldestLineAt"
    from (select changes from ledger_journal limit $2) as line
  ) as journal
  left join (select checked_at as "checkedAt", balanced from ledger_checks) as checks on true`;
