import type { Db, Tx } from '../db/index.ts';
import type { JsonObject } from '../json.ts';

/** Who makes a change: the operator through a route, or the program itself (a file at start, the first start). */
export interface Actor {
  readonly name: string;
  readonly requestId: string | undefined;
}

export interface Change {
  readonly at: Date;
  readonly action: string;
  readonly target: string;
  /** What is worth keeping of it. Never a secret. */
  readonly detail: JsonObject;
}

/** Part of the change's own transaction: there is no change without its row, and no row without its change. */
export async function recordChange(tx: Tx, by: Actor, change: Change): Promise<void> {
  await tx.run('insert into audit (at, actor, action, target, detail, request_id) values ($1, $2, $3, $4, $5, $6)', [
    change.at,
    by.name,
    change.action,
    change.target,
    change.detail,
    by.requestId ?? null,
  ]);
}

export interface AuditRow extends Change {
  readonly id: bigint;
  readonly actor: string;
  readonly requestId: string | null;
}

/** What is left out does not matter. */
export interface ChangeFilter {
  readonly actor?: string | undefined;
  /** An action, or what several begin with: `key` or `key.create`. */
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** The id of the last row already seen. */
  readonly after?: bigint | undefined;
}

/** Newest first. */
export async function listChanges(db: Db, limit: number, filter: ChangeFilter = {}): Promise<AuditRow[]> {
  const { actor, action, target, after } = filter;
  return db.rows<AuditRow>(
    `select id, at, actor, action, target, detail, request_id as "requestId" from audit
     where id < $2 and ($3::text is null or actor = $3) and ($5::text is null or target = $5)
       and ($4::text is null or action = $4 or starts_with(action, $4 || '.'))
     order by id desc limit $1`,
    [limit, after ?? 9_223_372_036_854_775_807n, actor ?? null, action ?? null, target ?? null],
  );
}
