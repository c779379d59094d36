import pg from 'pg';

/** One statement, again and again, on a connection of its own. */
export interface Lane {
  /**
   * Runs it with each of these lists of values, all of them or none, and tells how many rows each has touched. One call
   * at a time.
   */
  run(values: readonly (readonly string[])[]): Promise<readonly number[]>;
}

/** What the statement is called on its connection. */
const NAME = 'lane';

/**
 * For a statement that somebody waits for all the time: the pool takes a good part of that time to lend a connection, and
 * the library as much to learn what rows will be like and to make objects of them. Here is neither. The connection is made
 * when it is first needed, and again when it was lost or the statement has failed on it.
 */
export class OwnConnection implements Lane {
  readonly #statement: string;
  readonly #options: pg.ClientConfig;
  #client: Promise<pg.Client> | undefined;

  constructor(statement: string, options: pg.ClientConfig) {
    this.#statement = statement;
    this.#options = options;
  }

  async run(values: readonly (readonly string[])[]): Promise<readonly number[]> {
    this.#client ??= this.#open();
    const client = this.#client;
    try {
      return await runsOn(await client, values);
    } catch (error) {
      this.#forget(client);
      throw error;
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await (await client?.catch(() => undefined))?.end();
  }

  #open(): Promise<pg.Client> {
    const client = new pg.Client(this.#options);
    const opened = this.#prepare(client);
    client.on('error', () => this.#forget(opened));
    return opened;
  }

  async #prepare(client: pg.Client): Promise<pg.Client> {
    try {
      await client.connect();
      await client.query(`prepare ${NAME} as ${this.#statement}`);
      return client;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  #forget(client: Promise<pg.Client>): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    // Whatever it may still be waiting for.
    client.then((opened) => opened.end()).catch(() => undefined);
  }
}

function runsOn(client: pg.Client, values: readonly (readonly string[])[]): Promise<readonly number[]> {
  return new Promise((resolve, reject) => client.query(new Runs(values, resolve, reject)));
}

/** In the place of the library's own query. What is sent before the word that ends a transaction is one transaction. */
class Runs implements pg.Submittable {
  readonly #values: readonly (readonly string[])[];
  readonly #counts: number[] = [];
  /** The library puts its own around it, which gives up on a server that no longer answers. */
  callback: (error: Error | null) => void;

  constructor(
    values: readonly (readonly string[])[],
    resolve: (counts: readonly number[]) => void,
    reject: (error: Error) => void,
  ) {
    this.#values = values;
    this.callback = (error) => (error === null ? resolve(this.#counts) : reject(error));
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    for (const values of this.#values) {
      connection.bind({ statement: NAME, values: [...values] }, false);
      connection.execute(null, false);
    }
    connection.sync();
    connection.stream.uncork();
  }

  /** In the server's words, which end with the number of rows. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#counts.push(Number(text.slice(text.lastIndexOf(' ') + 1)));
  }

  handleDataRow(): void {
    // Only counted.
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
