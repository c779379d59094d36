import pg from 'pg';

/** One statement, again and again, on a connection of its own. */
export interface Lane {
  /**
   * Runs it with each of these lists of values, all of them or none, and tells how many rows each has touched. Who calls
   * while another's is being run does not wait for its answer: it is at the server by then, and is run right after it.
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
  #opened: Promise<Conversation> | undefined;

  constructor(statement: string, options: pg.ClientConfig) {
    this.#statement = statement;
    this.#options = options;
  }

  async run(values: readonly (readonly string[])[]): Promise<readonly number[]> {
    this.#opened ??= this.#open();
    const opened = this.#opened;
    try {
      return await (await opened).run(values);
    } catch (error) {
      this.#forget(opened);
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await (await opened?.catch(() => undefined))?.end();
  }

  #open(): Promise<Conversation> {
    const client = new pg.Client(this.#options);
    const opened = this.#prepare(client);
    client.on('error', () => {
      this.#forget(opened);
      opened.then((conversation) => conversation.end()).catch(() => undefined);
    });
    return opened;
  }

  async #prepare(client: pg.Client): Promise<Conversation> {
    try {
      await client.connect();
      await client.query(`prepare ${NAME} as ${this.#statement}`);
      return new Conversation(client);
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  #forget(opened: Promise<Conversation>): void {
    if (this.#opened === opened) this.#opened = undefined;
  }
}

/** What was said on one connection, and not answered yet. The server answers in the order in which it was asked. */
class Conversation {
  readonly #client: pg.Client;
  readonly #unanswered: Runs[] = [];
  /** Whether something has failed. Nothing more will be said, and what was said is heard to its end. */
  #isOver = false;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  run(values: readonly (readonly string[])[]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      const runs = new Runs((error, counts) => {
        this.#isOver ||= error !== null;
        this.#goOn(error === null || error instanceof pg.DatabaseError);
        if (error === null) resolve(counts);
        else reject(error);
      });
      runs.send(this.#client.connection, values);
      if (this.#unanswered.push(runs) === 1) this.#client.query(runs);
    });
  }

  end(): Promise<void> {
    return this.#client.end();
  }

  /** The library takes an answer to be for the one query that it knows of, so it is told of the next when one is over. */
  #goOn(isServerThere: boolean): void {
    this.#unanswered.shift();
    const [next] = this.#unanswered;
    if (next !== undefined) this.#client.query(next);
    // Without the server nobody waits for answers: the end of the connection is the answer to all.
    if (this.#isOver && (next === undefined || !isServerThere)) this.end().catch(() => undefined);
  }
}

/** In the place of the library's own query. What is sent before the word that ends a transaction is one transaction. */
class Runs implements pg.Submittable {
  readonly #counts: number[] = [];
  /** The library puts its own around it, which gives up on a server that no longer answers. */
  callback: (error: Error | null) => void;

  constructor(onAnswer: (error: Error | null, counts: readonly number[]) => void) {
    this.callback = (error) => onAnswer(error, this.#counts);
  }

  send(connection: pg.Connection, lists: readonly (readonly string[])[]): void {
    connection.stream.cork();
    for (const values of lists) {
      connection.bind({ statement: NAME, values: [...values] }, false);
      connection.execute(null, false);
    }
    connection.sync();
    connection.stream.uncork();
  }

  submit(): void {
    // Sent before.
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
