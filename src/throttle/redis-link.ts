import { REDIS_COMMAND_MS, REDIS_RETRY_MS, REDIS_STEADY_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { within } from './deadline.ts';
import { type ConnectionOptions, RedisConnection } from './redis-connection.ts';
import { asRedisFault, RedisFault } from './redis-fault.ts';

export interface LinkOptions extends Omit<ConnectionOptions, 'onLost'> {
  readonly log: Logger;
  /** What is logged when Redis goes away and when it is back. */
  readonly messages: { readonly away: string; readonly back: string };
  /** Runs on each new connection before it is used; the connection counts as failed when this throws. */
  readonly onOpen: (connection: RedisConnection) => Promise<void>;
}

/**
 * A circuit breaker around one connection. Closed: commands go through, and a connection that ends is replaced at once while
 * commands wait for it within their deadline. Open, after a missed deadline or a replacement that failed: every command fails
 * at once, and a probe in the background opens a new connection, later and later, until one works.
 */
export class RedisLink {
  readonly #options: LinkOptions;
  #connection: RedisConnection | undefined;
  #opening: Promise<RedisConnection> | undefined;
  #away: { readonly sinceMs: number } | undefined;
  /** The subject that failed last: in a cluster the others may lie on nodes that work. */
  #probedSubject = 'probe';
  #outages = 0;
  #retryMs = REDIS_RETRY_MS.first;
  #upSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return this.#away !== undefined;
  }

  get outages(): number {
    return this.#outages;
  }

  /** Undefined while there is none that works. */
  get connection(): RedisConnection | undefined {
    return this.#connection;
  }

  /**
   * Resolves when there is a connection or the first attempt has failed, which is logged and tried again like any outage. Throws
   * RedisFault when the server refuses the address: waiting cures nothing then.
   */
  async start(): Promise<void> {
    try {
      await this.#reopen();
    } catch (error) {
      if (!asRedisFault(error).isRefusal) return;
      this.stop();
      throw error;
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#connection?.close();
    this.#connection = undefined;
  }

  /**
   * Throws RedisFault, at the latest after twice the deadline of a command. `send` runs once more, on a new connection, where
   * the first was lost; what it sends must be harmless when repeated.
   */
  async run<Reply>(subject: string, send: (connection: RedisConnection) => Promise<Reply>): Promise<Reply> {
    const deadlineMs = performance.now() + REDIS_COMMAND_MS;
    const first = this.#connection ?? (await this.#replacement(deadlineMs));
    try {
      return await send(first);
    } catch (error) {
      this.#probedSubject = subject;
      const { message, isTimeout } = asRedisFault(error);
      this.#lose(first, message);
      if (isTimeout) throw this.#goAway(message);
    }
    const second = this.#connection ?? (await this.#replacement(deadlineMs));
    try {
      return await send(second);
    } catch (error) {
      const { message } = asRedisFault(error);
      this.#lose(second, message);
      throw this.#goAway(message);
    }
  }

  async #replacement(deadlineMs: number): Promise<RedisConnection> {
    if (this.isAway || this.#opening === undefined) throw new RedisFault('Redis is away');
    try {
      return await within(this.#opening, Math.max(1, deadlineMs - performance.now()));
    } catch (error) {
      throw this.#goAway(asRedisFault(error).message);
    }
  }

  /** Closes a connection that failed and begins to replace it. Does nothing for one that was replaced already. */
  #lose(connection: RedisConnection, reason: string): void {
    connection.close();
    if (connection !== this.#connection || this.#isStopped) return;
    this.#connection = undefined;
    this.#options.log.info({ reason }, 'the connection to Redis was lost and is opened again');
    // Too soon after the last outage: a server that takes connections and fails commands is asked less and less often.
    if (performance.now() - this.#upSinceMs < REDIS_STEADY_MS && this.#outages > 0) this.#goAway(reason);
    if (!this.isAway) this.#reopen().catch(() => undefined);
    else this.#retryLater();
  }

  #reopen(): Promise<RedisConnection> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<RedisConnection> {
    const { onOpen, address, scripts } = this.#options;
    let opened: RedisConnection | undefined;
    try {
      const onLost = (reason: string) => opened !== undefined && this.#lose(opened, reason);
      opened = await RedisConnection.open({ address, scripts, onLost });
      await opened.probe(this.#probedSubject);
      await onOpen(opened);
      if (this.#isStopped) throw new RedisFault('stopped');
    } catch (error) {
      opened?.close();
      const fault = this.#goAway(asRedisFault(error).message);
      this.#retryLater();
      throw fault;
    }
    this.#connection = opened;
    this.#upSinceMs = performance.now();
    this.#comeBack();
    return opened;
  }

  #retryLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    const delayMs = this.#retryMs * (0.5 + Math.random());
    this.#retryMs = Math.min(2 * this.#retryMs, REDIS_RETRY_MS.most);
    this.#timer = setTimeout(() => void this.#reopen().catch(() => undefined), delayMs).unref();
  }

  /** Logs the first time. Returns what to throw. */
  #goAway(reason: string): RedisFault {
    if (this.#away === undefined && !this.#isStopped) {
      if (performance.now() - this.#upSinceMs >= REDIS_STEADY_MS) this.#retryMs = REDIS_RETRY_MS.first;
      this.#away = { sinceMs: performance.now() };
      this.#outages++;
      this.#options.log.error({ reason }, this.#options.messages.away);
    }
    return new RedisFault(reason);
  }

  #comeBack(): void {
    if (this.#away === undefined) return;
    const awayMs = Math.round(performance.now() - this.#away.sinceMs);
    this.#away = undefined;
    this.#options.log.warn({ awayMs }, this.#options.messages.back);
  }
}
