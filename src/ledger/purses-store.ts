import type { MicroCredits } from '../credits.ts';
import type { Queries } from '../db/index.ts';

export interface PurseFilling {
  readonly id: string;
  /** Or else credits are added to the one of this id. */
  readonly isNew: boolean;
  readonly accountId: string;
  readonly processId: string;
  readonly wanted: MicroCredits;
  /** Less than this is not worth while. */
  readonly enough: MicroCredits;
  /** Until when it is used: no credits of the account may expire before. */
  readonly until: Date;
}

/** How much was added; undefined when the purse has been recalled. */
export async function fillPurse(queries: Queries, filling: PurseFilling): Promise<MicroCredits | undefined> {
  const { id, isNew, accountId, processId, wanted, enough, until } = filling;
  const [row] = await queries.rows<{ added: MicroCredits | null }>(
    'select ledger_fill_purse($1, $2, $3, $4, $5, $6, $7) as added',
    [id, isNew, accountId, processId, wanted, enough, until],
  );
  return row?.added ?? undefined;
}

/** Once this is committed no line can be written from it. One per statement, which excludes deadlocks. */
export function deletePurse(queries: Queries, id: string): Promise<number> {
  return queries.run('delete from purses where id = $1', [id]);
}

export function selectPursesOf(queries: Queries, processId: string): Promise<readonly { id: string }[]> {
  return queries.rows('select id from purses where process_id = $1', [processId]);
}

/** Purses of processes whose lease has run out. */
export function selectLostPurses(queries: Queries, now: Date): Promise<readonly { id: string }[]> {
  return queries.rows(
    `select id from purses where not exists (
       select from reservation_owners owner where owner.process_id = purses.process_id and lease_until > $1)`,
    [now],
  );
}
