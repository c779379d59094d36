import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Role } from '../config.ts';
import { CACHE_LEASE_MS, HEARTBEAT_EVERY_MS, PEER_LEASE_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { PooledDb, Queries } from './db.ts';
import { DatabaseUnavailable } from './errors.ts';

/** What processes tell each other. */
export type Topic =
  | 'key'
  | 'grant'
  | 'account'
  | 'person'
  | 'config'
  | 'clock'
  | 'upstream'
  | 'job'
  | 'job_end'
  | 'transcription';

/** What a listener does about a change counts as heard only when it is done. It must not fail. */
type Listener = (subject: string) => void | Promise<void>;

/** Processes of a deployment by what they do. */
export interface Peers {
  readonly serving: number;
  readonly working: number;
}

/** A heartbeat as it stands in the database, by the primary's time and by this process's own. */
export interface Beat {
  readonly seenMs: number;
  readonly begunMs: number;
}

const PG_NOTIFY_NAME = 'tollgate';

/** Tells every process of a change, when the transaction commits. For what is written in many places without a bus. */
export async function announce(tx: Queries, topic: Topic, subject: string): Promise<void> {
  await tx.rows('select pg_notify($1, $2)', [PG_NOTIFY_NAME, JSON.stringify([topic, subject])]);
}

/**
 * Tells every process of the deployment what has changed, through the database itself: LISTEN on a connection of its
 * own, NOTIFY inside the transaction of the change.
 *
 * What a process caches may be used only while `fresh` holds. A beat is a round trip on the listening connection, and
 * PostgreSQL delivers notifications in order on it, so after a beat that began at time t everything committed before
 * t has been heard. A beat is trusted for CACHE_LEASE_MS: that long after a commit (or once every live process has
 * acknowledged it, which is quicker) no process acts on the old state any more.
 */
export class Bus {
  readonly processId: string;
  readonly #db: PooledDb;
  readonly #log: Logger;
  readonly #role: Role;
  readonly #listeners = new Map<Topic, Listener[]>();
  readonly #waiting = new Map<string, (processId: string) => void>();
  readonly #onLost: (() => void)[] = [];
  #client: pg.Client | undefined;
  #listenersDone: Promise<unknown> = Promise.resolve();
  #heardUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #peers: Peers = { serving: 0, working: 0 };
  #lastBeat: Beat | undefined;

  constructor(db: PooledDb, processId: string, log: Logger, role: Role = 'both') {
    this.#db = db;
    this.processId = processId;
    this.#log = log;
    this.#role = role;
    db.onMoved(() => this.#lose('another server is in use'));
  }

  /** Throws DatabaseUnavailable when the database does not let it listen; then it may be started again. */
  async start(): Promise<void> {
    await this.#beat();
    this.#beatOn();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    // With the database gone the row expires by itself.
    await client?.query('delete from processes where id = $1', [this.processId]).catch(() => undefined);
    await client?.end().catch(() => undefined);
  }

  on(topic: Topic, listener: Listener): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  /** Called when announcements may have been missed: whatever was cached must be dropped. */
  onLost(listener: () => void): void {
    this.#onLost.push(listener);
  }

  /** Whether everything that was committed by CACHE_LEASE_MS ago has been heard. */
  get fresh(): boolean {
    return performance.now() < this.#heardUntilMs;
  }

  /** Other live processes of this deployment by what they do, as of the last beat; one of role `both` counts twice. */
  get peers(): Peers {
    return this.#peers;
  }

  /** The last one that was written; undefined before the first. */
  get lastBeat(): Beat | undefined {
    return this.#lastBeat;
  }

  /** Becomes audible when the transaction commits. */
  async announce(tx: Queries, topic: Topic, subject: string): Promise<void> {
    await announce(tx, topic, subject);
  }

  /** After a commit: resolves once no process acts on what was cached before it. Never later than the lease. */
  async heardByAll(): Promise<void> {
    const word = randomUUID();
    const lapsed = Promise.withResolvers<void>();
    const timer = setTimeout(lapsed.resolve, CACHE_LEASE_MS);
    try {
      const missing = new Set(await this.#livePeers());
      missing.add(this.processId);
      const answered = Promise.withResolvers<void>();
      this.#waiting.set(word, (processId) => {
        missing.delete(processId);
        if (missing.size === 0) answered.resolve();
      });
      await this.#notify(['ask', word]);
      await Promise.race([answered.promise, lapsed.promise]);
    } catch {
      // The commit stands even if the database has gone since; the lease alone is enough.
      await lapsed.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(word);
    }
  }

  async #livePeers(): Promise<string[]> {
    const rows = await this.#db.rows<{ id: string }>(
      `select id from processes where id <> $1 and last_seen > clock_timestamp() - $2 * interval '1 millisecond'`,
      [this.processId, CACHE_LEASE_MS * 2],
    );
    return rows.map((row) => row.id);
  }

  async #notify(message: readonly string[]): Promise<void> {
    await this.#db.rows('select pg_notify($1, $2)', [PG_NOTIFY_NAME, JSON.stringify(message)]);
  }

  #beatOn(): void {
    if (this.#stopped) return;
    const again = () => this.#beatOn();
    this.#timer = setTimeout(() => void this.#beat().then(again, again), HEARTBEAT_EVERY_MS).unref();
  }

  async #beat(): Promise<void> {
    const begunMs = performance.now();
    try {
      this.#client ??= await this.#connect();
      await this.#sayAlive(this.#client, begunMs);
      this.#heardUntilMs = begunMs + CACHE_LEASE_MS;
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      throw new DatabaseUnavailable('The database lets nobody listen.', { cause: error });
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = await this.#db.openConnection(CACHE_LEASE_MS);
    client.on('notification', (notification) => this.#hear(notification.payload ?? ''));
    client.on('error', (error) => this.#lose(error.message, client));
    client.on('end', () => this.#lose('the connection ended', client));
    try {
      await client.query(`listen ${PG_NOTIFY_NAME}`);
      if (this.#stopped) throw new Error('stopped while it connected');
    } catch (error) {
      // No other reference to the client exists: unless it ends here, its connection leaks until the process ends.
      client.end().catch(() => undefined);
      throw error;
    }
    // Notifications sent before LISTEN were missed.
    for (const listener of this.#onLost) listener();
    return client;
  }

  async #sayAlive(client: pg.Client, begunMs: number): Promise<void> {
    const result = await client.query<Peers & { seenMs: number }>({
      name: 'alive',
      text: `with alive as (
          insert into processes (id, started_at, last_seen, role)
          values ($1, clock_timestamp(), clock_timestamp(), $3)
          on conflict (id) do update set last_seen = excluded.last_seen
          returning last_seen
        ), dead as (
          delete from processes where last_seen < clock_timestamp() - $2 * interval '1 millisecond'
        )
        select (count(*) filter (where role <> 'work'))::int as serving,
          (count(*) filter (where role <> 'serve'))::int as working,
          (select (extract(epoch from last_seen) * 1000)::float8 from alive) as "seenMs"
        from processes where id <> $1 and last_seen >= clock_timestamp() - $2 * interval '1 millisecond'`,
      values: [this.processId, PEER_LEASE_MS, this.#role],
    });
    const [row] = result.rows;
    if (row === undefined) return;
    this.#peers = { serving: row.serving, working: row.working };
    this.#lastBeat = { seenMs: row.seenMs, begunMs };
  }

  #lose(reason: string, client: pg.Client | undefined = this.#client): void {
    if (this.#stopped || client !== this.#client) return;
    if (client !== undefined) {
      this.#client = undefined;
      this.#log.warn({ reason }, 'the database listener was lost; nothing is cached until it is back');
      client.end().catch(() => undefined);
    }
    this.#heardUntilMs = 0;
    for (const listener of this.#onLost) listener();
  }

  #hear(payload: string): void {
    const [topic, subject, from = ''] = JSON.parse(payload) as [Topic | 'ask' | 'answer', string, string?];
    if (topic === 'ask') {
      this.#listenersDone.then(() => this.#notify(['answer', subject, this.processId])).catch(() => undefined);
    } else if (topic === 'answer') {
      this.#waiting.get(subject)?.(from);
    } else {
      const listeners = this.#listeners.get(topic) ?? [];
      this.#listenersDone = Promise.all([this.#listenersDone, ...listeners.map((listener) => listener(subject))]);
    }
  }
}
