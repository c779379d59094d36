import type { Cluster, DNSLookupFunction, Redis, Result } from 'ioredis';
import { REDIS_COMMAND_MS, REDIS_CONNECT_MS, SLOT_LEASE_MS } from '../limits.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { ReplyDeadlines, within } from './deadline.ts';
import { RedisFault } from './redis-fault.ts';
import { type LimitScripts, limitScripts } from './redis-scripts.ts';
import type { Allowance } from './throttle.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeLimit(bucket: string, slots: string, ...args: (string | number)[]): Result<number, Context>;
    renewSlots(slots: string, leaseMs: number, ...ids: string[]): Result<number, Context>;
  }
}

export interface ConnectionOptions {
  readonly address: RedisAddress;
  readonly scripts?: LimitScripts | undefined;
  /** Called once when the server ends the connection. */
  readonly onLost?: (reason: string) => void;
}

/**
 * A connection that is used until its first fault and then replaced: nothing is queued, sent again or reconnected behind the
 * back of its user. Commands are written without waiting for earlier replies (pipelining), and those of one round of the event
 * loop in one system call.
 */
export class RedisConnection {
  readonly #client: Redis | Cluster;
  readonly #prefix: string;
  readonly #deadlines = new ReplyDeadlines();
  #isCorked = false;
  #isClosed = false;

  private constructor(client: Redis | Cluster, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Throws RedisFault. The client library is loaded by the first call. */
  static async open({ address, scripts = limitScripts(), onLost }: ConnectionOptions): Promise<RedisConnection> {
    const client = await newClient(address, scripts);
    const connection = new RedisConnection(client, address.prefix);
    let fault: RedisFault | undefined;
    const note = (error: Error) => {
      fault = new RedisFault(error.message);
    };
    client.on('error', note);
    client.on('node error', note);
    client.once('end', () => {
      if (!connection.#isClosed) onLost?.(fault?.message ?? 'the server closed the connection');
    });
    try {
      await within(client.connect(), REDIS_CONNECT_MS);
      // A database that does not exist is an event and no failure: commands would go to another one.
      if (fault?.isRefusal === true) throw fault;
      return connection;
    } catch (error) {
      connection.close();
      throw fault ?? error;
    }
  }

  /** Resolves to one of TAKE_REPLY. Throws RedisFault. */
  take(subject: string, { rpm, concurrency }: Allowance, leaseId: string, offsetMs: number): Promise<number> {
    const [bucket, slots] = this.#keys(subject);
    this.#cork();
    const reply = this.#client.takeLimit(bucket, slots, rpm, concurrency ?? '', leaseId, SLOT_LEASE_MS, offsetMs);
    return this.#deadlines.await(reply);
  }

  /** Throws RedisFault. */
  async renew(subject: string, leaseIds: readonly string[]): Promise<void> {
    const [, slots] = this.#keys(subject);
    this.#cork();
    await this.#deadlines.await(this.#client.renewSlots(slots, SLOT_LEASE_MS, ...leaseIds));
  }

  /** Sends it and waits for nothing. A release that is lost with the connection ends with its lease. */
  release(subject: string, leaseId: string): void {
    if (this.#isClosed) return;
    const [, slots] = this.#keys(subject);
    this.#cork();
    this.#client.zrem(slots, leaseId).catch(() => undefined);
  }

  /** Proves that the server which has the subject's keys runs the script and takes writes. Throws RedisFault. */
  async probe(subject: string): Promise<void> {
    const [, slots] = this.#keys(subject);
    const reply = this.#client.takeLimit(this.#key(subject, 'probe'), slots, 1, '', '', SLOT_LEASE_MS, 0);
    await this.#deadlines.await(reply);
  }

  /** `INFO` of the server, or of one node of the cluster. */
  async info(): Promise<string> {
    return this.#deadlines.await(this.#client.info());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#client.disconnect();
  }

  /** The braces are a hash tag: in a cluster, the keys of one subject lie in one slot, which one script may use. */
  #keys(subject: string): [bucket: string, slots: string] {
    return [this.#key(subject, 'bucket'), this.#key(subject, 'slots')];
  }

  #key(subject: string, kind: string): string {
    return `${this.#prefix}:{${subject}}:${kind}`;
  }

  /** A cluster has a connection to each node, which the client library does not show. */
  #cork(): void {
    if (this.#isCorked || !('stream' in this.#client)) return;
    const { stream } = this.#client;
    this.#isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

async function newClient(address: RedisAddress, { take, renew }: LimitScripts): Promise<Redis | Cluster> {
  const library = await import('ioredis');
  const scripts = { takeLimit: { lua: take, numberOfKeys: 2 }, renewSlots: { lua: renew, numberOfKeys: 1 } };
  const options = { ...serverOptions(address), scripts };
  switch (address.kind) {
    case 'single':
      return new library.Redis({ ...options, ...address.nodes[0] });
    case 'sentinel':
      return new library.Redis({ ...options, ...sentinelOptions(address) });
    case 'cluster':
      return new library.Cluster([...address.nodes], { ...clusterOptions(address), scripts });
  }
}

/** No reconnecting, no queue, no sending again: a fault is told at once, and the next connection starts afresh. */
function serverOptions({ username, password, database, tls }: RedisAddress) {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    enableReadyCheck: false,
    connectTimeout: REDIS_CONNECT_MS,
    disconnectTimeout: REDIS_COMMAND_MS,
    connectionName: 'tollgate',
    disableClientInfo: true,
    // Known to every server and proxy; the scripts reply with numbers.
    protocol: 2 as const,
    db: database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: password.reveal() }),
    ...(tls ? { tls: {} } : {}),
  };
}

function sentinelOptions(address: RedisAddress) {
  const { nodes, masterName = '', tls, sentinelUsername, sentinelPassword } = address;
  return {
    sentinels: [...nodes],
    name: masterName,
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: REDIS_CONNECT_MS,
    ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword: sentinelPassword.reveal() }),
  };
}

function clusterOptions(address: RedisAddress) {
  const { db: _, ...redisOptions } = serverOptions(address);
  return {
    redisOptions,
    lazyConnect: true,
    enableReadyCheck: false,
    clusterRetryStrategy: () => null,
    slotsRefreshTimeout: REDIS_CONNECT_MS,
    // Certificates are for names, not for the addresses that they resolve to.
    ...(address.tls ? { dnsLookup: nameAsItIs } : {}),
  };
}

const nameAsItIs: DNSLookupFunction = (name, done) => done(null, name);
