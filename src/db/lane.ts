import pg from 'pg';

/**
 * A connection of its own for statements that follow each other closely and that somebody waits for: it takes the pool a
 * good part of such a statement's time to lend a connection, and another one each time. Made when it is first needed, and
 * again when it was lost or a statement has failed on it.
 */
export class Lane {
  readonly #options: pg.ClientConfig;
  #client: Promise<pg.Client> | undefined;

  constructor(options: pg.ClientConfig) {
    this.#options = options;
  }

  async query(config: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#client ??= this.#connect();
    const client = this.#client;
    try {
      return await (await client).query(config);
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

  #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#options);
    const connected = client.connect().then(() => client);
    client.on('error', () => this.#forget(connected));
    return connected;
  }

  #forget(client: Promise<pg.Client>): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    // Whatever it may still be waiting for.
    client.then((connected) => connected.end()).catch(() => undefined);
  }
}
