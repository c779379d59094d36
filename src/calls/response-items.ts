import type { Clock } from '../clock.ts';
import { DatabaseUnavailable, type Db, GroupCommit, type Tx } from '../db/index.ts';
import type { JsonObject } from '../json.ts';
import { stringAt } from '../json-read.ts';
import { RESPONSE_ITEM_KEPT_MS, RESPONSE_ITEMS_PER_COMMIT } from '../limits.ts';
import type { Logger } from '../log.ts';

interface ItemDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

interface KeptItems {
  readonly accountId: string;
  readonly items: readonly JsonObject[];
  readonly expiresAt: Date;
}

/**
 * Output items by their ids, for a day: a later request of the same account may name one in place of repeating it. Written
 * by group commit, so that a call pays for a share of a transaction.
 */
export class ResponseItems {
  readonly #deps: ItemDeps;
  readonly #commits: GroupCommit<KeptItems, undefined>;

  constructor(deps: ItemDeps) {
    this.#deps = deps;
    this.#commits = new GroupCommit((members) => insertItems(deps.db, members), RESPONSE_ITEMS_PER_COMMIT);
  }

  /**
   * Resolves when they can be found. In an outage of the database the answer is given all the same, since it is charged:
   * a later request that names them is told to send them whole.
   */
  async keep(accountId: string, items: readonly JsonObject[]): Promise<void> {
    const { clock, log } = this.#deps;
    const expiresAt = new Date(clock.nowMs() + RESPONSE_ITEM_KEPT_MS);
    try {
      await this.#commits.add({ accountId, items, expiresAt });
    } catch (error) {
      if (error instanceof DatabaseUnavailable) log.warn({ items: items.length }, 'response items could not be kept');
      else log.error({ err: error, items: items.length }, 'response items could not be kept');
    }
  }

  /** Those of the account that are there and have not expired. */
  async find(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
    if (ids.length === 0) return NO_ITEMS;
    const rows = await this.#deps.db.rows<{ id: string; item: string }>(
      'select id, item from response_items where id = any($1) and account_id = $2 and expires_at > $3',
      [ids.filter((id) => !id.includes('\0')), accountId, this.#deps.clock.now()],
    );
    return new Map(rows.map(({ id, item }) => [id, JSON.parse(item)]));
  }
}

const NO_ITEMS: ReadonlyMap<string, JsonObject> = new Map();

async function insertItems(db: Db, members: readonly KeptItems[]): Promise<readonly undefined[]> {
  const rows = members.flatMap(({ accountId, items, expiresAt }) =>
    // PostgreSQL keeps no NUL; in JSON it is written as an escape.
    items.map((item) => ({ id: stringAt(item, 'id') ?? '', accountId, text: JSON.stringify(item), expiresAt })),
  );
  await db.run(
    `insert into response_items (id, account_id, item, expires_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) on conflict (id) do nothing`,
    [
      rows.map(({ id }) => id),
      rows.map(({ accountId }) => accountId),
      rows.map(({ text }) => text),
      rows.map(({ expiresAt }) => expiresAt),
    ],
  );
  return members.map(() => undefined);
}

export function forgetResponseItems(queries: Pick<Tx, 'run'>, now: Date): Promise<number> {
  return queries.run('delete from response_items where expires_at <= $1', [now]);
}
