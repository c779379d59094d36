import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestDatabase } from './database.ts';

/** A wire between one gateway and its database that a test can cut, or on which it can hold back what is answered. */
export class DatabaseLink {
  /** The same database, reached through this link. */
  readonly database: TestDatabase;
  readonly #server: Server;
  readonly #port: number;
  readonly #pairs = new Set<Pair>();
  #isSilent = false;
  #held: Buffer | undefined;

  private constructor(server: Server, database: TestDatabase) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The link has no port.');
    this.#server = server;
    this.#port = address.port;
    if (!('host' in database.address)) throw new Error('The database has no socket.');
    const { host, port, user, database: name } = database.address;
    this.database = { ...database, url: `postgres://${user}@127.0.0.1:${this.#port}/${name}` };
    server.on('connection', (client) => this.#join(client, connect(join(host, `.s.PGSQL.${port}`))));
  }

  static async open(database: TestDatabase): Promise<DatabaseLink> {
    const server = createServer().listen(0, '127.0.0.1').unref();
    await once(server, 'listening');
    return new DatabaseLink(server, database);
  }

  /** Ends every connection and takes no new ones. */
  async cut(): Promise<void> {
    this.#server.close();
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
    await once(this.#server, 'close');
  }

  async restore(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** From now on nothing reaches a connection that listens, which itself notices nothing. */
  silenceListeners(): void {
    this.#isSilent = true;
  }

  /** Lets them hear again; what was held back comes first. */
  unsilenceListeners(): void {
    this.#isSilent = false;
    for (const pair of this.#pairs) deliver(pair);
  }

  /** From now on a client that sends these bytes waits for the answer. */
  holdAnswersTo(bytes: Buffer): void {
    this.#held = bytes;
  }

  get isHolding(): boolean {
    return [...this.#pairs].some(({ waits, held }) => waits && held.length > 0);
  }

  letGo(): void {
    this.#held = undefined;
    for (const pair of this.#pairs) {
      pair.waits = false;
      deliver(pair);
    }
  }

  #join(client: Socket, server: Socket): void {
    const pair: Pair = { client, server, listens: false, waits: false, held: [] };
    this.#pairs.add(pair);
    client.on('data', (bytes: Buffer) => {
      if (bytes.includes('listen tollgate')) pair.listens = true;
      if (this.#held !== undefined && bytes.includes(this.#held)) pair.waits = true;
      server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => {
      pair.held.push(bytes);
      if (!pair.waits && !(this.#isSilent && pair.listens)) deliver(pair);
    });
    for (const socket of [client, server]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
  }
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  listens: boolean;
  waits: boolean;
  readonly held: Buffer[];
}

function deliver({ client, held }: Pair): void {
  for (const bytes of held.splice(0)) client.write(bytes);
}
