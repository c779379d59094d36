import { DatabaseUnavailable, type Db, type Tx } from '../../src/db/index.ts';

/**
 * The line from one simulated process to the database. While it is cut, a call either never happens (a transaction is
 * rolled back), or it happens and its answer is lost.
 */
export class Line implements Db {
  readonly #db: Db;
  cut: 'before' | 'after' | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#pass(() => this.#db.rows<Row>(statement, values));
  }

  run(statement: string, values?: readonly unknown[]): Promise<number> {
    return this.#pass(() => this.#db.run(statement, values));
  }

  async transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    const { cut } = this;
    const result = await this.#db.transaction(async (tx) => {
      const done = await work(tx);
      if (cut === 'before') throw lost();
      return done;
    });
    if (cut === 'after') throw lost();
    return result;
  }

  /** The pool is shared. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #pass<Result>(work: () => Promise<Result>): Promise<Result> {
    const { cut } = this;
    if (cut === 'before') throw lost();
    const result = await work();
    if (cut === 'after') throw lost();
    return result;
  }
}

function lost(): DatabaseUnavailable {
  return new DatabaseUnavailable('The line to the database is cut.');
}
