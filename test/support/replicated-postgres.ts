import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { Client } from 'pg';
import { silentLog } from './database.ts';
import { sendSignal, serversBelow, until } from './postgres.ts';

const DATABASE = 'gate';

/** Two real servers on this machine: a primary, and its streaming replica with synchronous commit. */
export class ReplicatedPostgres {
  /** The primary at first, then its replica. */
  readonly servers: readonly [ReplicaServer, ReplicaServer];

  private constructor(one: ReplicaServer, two: ReplicaServer) {
    this.servers = [one, two];
  }

  /** Below an empty folder that the server's user can pass. Nothing is acknowledged before the replica has applied it. */
  static async start(folder: string): Promise<ReplicatedPostgres> {
    const one = new ReplicaServer(join(folder, 'one'));
    const two = new ReplicaServer(join(folder, 'two'));
    await one.start();
    await one.ask(`create database ${DATABASE}`);
    await one.stop();
    // A copy of a cluster that was stopped in order is a base backup.
    mkdirSync(two.folder, { mode: 0o700 });
    spawnSync('cp', ['-a', join(one.folder, 'postgres'), two.folder]);
    writeFileSync(join(two.folder, 'postgres', 'standby.signal'), '');
    await one.start({ synchronous_standby_names: '*', synchronous_commit: 'remote_apply' });
    await two.start({ primary_conninfo: `host=${one.connection.host} user=${one.connection.user}` });
    await until(async () => (await one.ask(`select from pg_stat_replication where sync_state = 'sync'`)).length === 1);
    return new ReplicatedPostgres(one, two);
  }

  /** As an operator writes it. */
  url(servers: readonly ReplicaServer[] = this.servers, parameters = ''): string {
    const hosts = servers.map(({ connection }) => connection.host).join();
    return `postgres://${servers[0]?.connection.user}@localhost/${DATABASE}?host=${encodeURIComponent(hosts)}${parameters}`;
  }

  /** From now on commits are acknowledged before the replica has them. */
  async loosen(): Promise<void> {
    const [primary] = this.servers;
    await primary.stop();
    await primary.start({ synchronous_standby_names: '' });
    await until(async () => (await primary.ask('select from pg_stat_replication')).length === 1);
  }

  async stop(): Promise<void> {
    for (const server of this.servers) await server.stop();
  }
}

export class ReplicaServer {
  readonly folder: string;
  #server: EmbeddedPostgres | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  get connection(): EmbeddedPostgres['connection'] {
    if (this.#server === undefined) throw new Error('The server was not started.');
    return this.#server.connection;
  }

  async start(settings: Record<string, string> = {}): Promise<void> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    // What is killed here loses nothing that it has written: the machine lives on.
    const options = { folder: this.folder, log: silentLog, progress: () => undefined };
    this.#server = await startEmbeddedPostgres({ ...options, settings: { fsync: 'off', ...settings } });
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  /** Kills it and lets its supervisor not bring it back. */
  async kill(): Promise<void> {
    renameSync(join(this.folder, 'postgres'), join(this.folder, 'away'));
    for (const pid of serversBelow(this.folder)) sendSignal(pid, 'SIGKILL');
    await until(() => serversBelow(this.folder).length === 0);
  }

  /** Brings a killed one back as it was, which an operator must not do after a promotion. */
  async revive(): Promise<void> {
    const { connection } = this;
    renameSync(join(this.folder, 'away'), join(this.folder, 'postgres'));
    await until(() => answers(connection));
  }

  /** Of a replica: stops the process that receives the log. Returns what lets it go on. */
  async pauseReceiver(): Promise<() => void> {
    const [row] = await this.ask<{ pid: number }>('select pid from pg_stat_wal_receiver');
    const pid = row?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    return () => sendSignal(pid, 'SIGCONT');
  }

  async promote(): Promise<void> {
    await this.ask('select pg_promote(true)');
  }

  /** One statement on a connection of its own. */
  async ask<Row>(statement: string, database = 'postgres'): Promise<Row[]> {
    const client = new Client({ ...this.connection, database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end();
    }
  }
}

async function answers(connection: EmbeddedPostgres['connection']): Promise<boolean> {
  const client = new Client(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    client.end().catch(() => undefined);
  }
}
