import pg from 'pg';
import type { Logger } from '../log.ts';
import { isDemotion } from './errors.ts';
import {
  clientOptions,
  prepareAndInspect,
  prepareSession,
  type Server,
  type ServerState,
  type SessionLimits,
} from './server-session.ts';

const POOL_CONNECTIONS_MAX = 16;

/** The pool waits for it; the driver's types do not say so. */
interface Hooks {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

/** A connection out of the pool. */
export interface Session {
  readonly client: pg.PoolClient;
  /** Gives it back; with an error it is closed instead. */
  readonly release: (error?: Error) => void;
}

/** How busy the connections are, as of the moment of reading. */
export interface PoolFigures {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Statements and transactions that wait for a connection now. */
  readonly waiting: number;
  /** How many have had to wait since this server is in use. */
  readonly waits: number;
}

export const NO_POOL: PoolFigures = { max: POOL_CONNECTIONS_MAX, open: 0, idle: 0, waiting: 0, waits: 0 };

export interface PoolOptions {
  readonly limits: SessionLimits;
  readonly log: Logger;
  /** Throws where a server may not be used. Undefined asks the server nothing. */
  readonly accept: ((server: Server, state: ServerState) => void) | undefined;
  /** The server has refused a write. */
  readonly onDemotion: (pool: ServerPool) => void;
}

/** The connections to one server. */
export class ServerPool {
  readonly server: Server;
  readonly #options: PoolOptions;
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.ClientBase & { end(): Promise<void> }>();
  #ended: Promise<void> | undefined;
  #waits = 0;

  constructor(server: Server, options: PoolOptions) {
    const { limits, log } = options;
    this.server = server;
    this.#options = options;
    // Its `verify` would leak the connection of a request that gave up waiting meanwhile.
    const hooks: Hooks = { onConnect: (client) => this.#begin(client) };
    const poolOptions = {
      ...clientOptions(server, limits),
      max: POOL_CONNECTIONS_MAX,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    };
    this.#pool = new pg.Pool(Object.assign(poolOptions, hooks));
    // Without a listener the loss of a connection would end the process. The pool itself listens to idle ones only; a
    // connection lost in use is noticed by the statement that runs on it, or by the next.
    this.#pool.on('error', (error) => {
      if (this.#ended === undefined) log.warn({ reason: error.message }, 'an idle database connection was lost');
    });
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#clients.add(client);
    });
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  get figures(): PoolFigures {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { max: POOL_CONNECTIONS_MAX, open, idle, waiting, waits: this.#waits };
  }

  async connect(): Promise<Session> {
    if (this.#pool.idleCount === 0 && this.#pool.totalCount >= POOL_CONNECTIONS_MAX) this.#waits++;
    const client = await this.#pool.connect();
    return {
      client,
      release: (error) => {
        client.release(error);
        if (isDemotion(error)) this.#options.onDemotion(this);
      },
    };
  }

  /** A connection outside the pool. The caller ends it. */
  async open(queryTimeoutMs: number): Promise<pg.Client> {
    const client = new pg.Client({
      ...clientOptions(this.server, this.#options.limits),
      query_timeout: queryTimeoutMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await this.#begin(client);
      return client;
    } catch (error) {
      // No other reference to the client exists: unless it ends here, its connection leaks until the process ends.
      client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Lets what runs come to its end, and no connection be used again. */
  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }

  /** Closes every connection, in use or not: their server must not commit anything more for this process. */
  cut(): void {
    this.end().catch(() => undefined);
    for (const client of this.#clients) client.end().catch(() => undefined);
  }

  async #begin(client: pg.ClientBase): Promise<void> {
    const { accept, limits } = this.#options;
    if (accept === undefined) await prepareSession(client, limits);
    else accept(this.server, await prepareAndInspect(client, limits));
  }
}
