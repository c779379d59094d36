import type pg from 'pg';
import { DEMOTION_EVERY_MS, SERVER_GRACE_MS, SERVER_WATCH_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { SessionAttrs } from '../postgres-url.ts';
import { isPoolTimeout, UnsuitableServer } from './errors.ts';
import { NO_POOL, type PoolFigures, ServerPool, type Session } from './server-pool.ts';
import { inspect, rankOf, type Server, type ServerState, type SessionLimits, unsuitable } from './server-session.ts';

export interface ServersOptions {
  readonly servers: readonly Server[];
  readonly sessionAttrs: SessionAttrs;
  readonly limits: SessionLimits;
  readonly log: Logger;
}

/** What became of several servers since this process started. */
export interface ServerFigures {
  /** How often another server came into use. */
  readonly failovers: number;
  /** Servers beside the one in use that take writes. */
  readonly strays: number;
}

interface Found {
  readonly server: Server;
  readonly state: ServerState;
}

/**
 * Failover on the side of the client: of several servers one is used at a time, by all connections of the process. When
 * it cannot be reached or takes no writes, all are inspected at once, and the best that suits is used from then on.
 *
 * Of two servers that take writes, the one with the higher timeline was promoted last; the other is a primary that came
 * back without being fenced, and is never used by a process that has seen the higher timeline.
 */
export class Servers {
  readonly #options: ServersOptions;
  readonly #onMoved: (() => void)[] = [];
  readonly #watch: NodeJS.Timeout | undefined;
  #pool: ServerPool | undefined;
  #search: Promise<ServerPool> | undefined;
  #timeline = 0;
  #systemId: string | undefined;
  #demotedAtMs = Number.NEGATIVE_INFINITY;
  /** Servers beside the one in use that take writes. */
  #strays: readonly string[] = [];
  #lastUsed: Server | undefined;
  #failovers = 0;

  constructor(options: ServersOptions) {
    this.#options = options;
    const [first] = options.servers;
    if (this.#isPlain && first !== undefined) this.#pool = this.#newPool(first);
    if (options.servers.length > 1 && this.#isForWrites)
      this.#watch = setInterval(() => void this.#lookForStrays(), SERVER_WATCH_MS).unref();
  }

  get warnings(): readonly string[] {
    const inUse = this.#pool?.server.name ?? 'none';
    return this.#strays.map(
      (name) => `The database server ${name} takes writes beside ${inUse}, which is in use: stop it before it is used.`,
    );
  }

  /** Of the connections to the server in use. */
  get poolFigures(): PoolFigures {
    return this.#pool?.figures ?? NO_POOL;
  }

  get figures(): ServerFigures {
    return { failovers: this.#failovers, strays: this.#strays.length };
  }

  /** Called when another server is in use from now on. */
  onMoved(listener: () => void): void {
    this.#onMoved.push(listener);
  }

  connect(): Promise<Session> {
    return this.#onServer((pool) => pool.connect());
  }

  /** A connection outside the pool, on the same server. */
  open(queryTimeoutMs: number): Promise<pg.Client> {
    return this.#onServer((pool) => pool.open(queryTimeoutMs));
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await this.#search?.catch(() => undefined);
    await this.#pool?.end();
  }

  /** One server that may be whatever it is: there is nothing to choose or to check. */
  get #isPlain(): boolean {
    return this.#options.servers.length === 1 && this.#options.sessionAttrs === 'any';
  }

  get #isForWrites(): boolean {
    return this.#options.sessionAttrs === 'read-write' || this.#options.sessionAttrs === 'primary';
  }

  async #onServer<Result>(use: (pool: ServerPool) => Promise<Result>): Promise<Result> {
    const pool = this.#pool ?? (await this.#find());
    try {
      return await use(pool);
    } catch (error) {
      if (this.#isPlain || isPoolTimeout(error)) throw error;
      return use(await this.#find());
    }
  }

  /** Single flight: however many connections fail at once, the servers are inspected once. */
  #find(): Promise<ServerPool> {
    this.#search ??= this.#inspectAll().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  async #inspectAll(): Promise<ServerPool> {
    const { servers, limits, sessionAttrs, log } = this.#options;
    const problems: string[] = [];
    const suitable = await gather(servers, async (server) => {
      try {
        const state = await inspect(server, limits);
        if (rankOf(state, sessionAttrs) === undefined) throw unsuitable(server, state);
        return { server, state };
      } catch (error) {
        problems.push(problemOf(server, error));
        return undefined;
      }
    });
    const [best, ...others] = suitable.sort((one, other) => this.#compare(one, other));
    if (best === undefined) throw new UnsuitableServer(problems.join('; '));
    const foreign = others.find(({ state }) => state.systemId !== best.state.systemId);
    if (foreign !== undefined) throw otherCluster(foreign.server);
    this.#accept(best.server, best.state);
    if (this.#pool?.server !== best.server)
      log.warn({ server: best.server.name, timeline: best.state.timeline }, 'the database server in use from now on');
    const pool = this.#use(best.server);
    if (this.#isForWrites) this.#setStrays(others.map(({ server }) => server.name));
    return pool;
  }

  /** Throws where the server may not be used. */
  #accept(server: Server, state: ServerState): void {
    if (rankOf(state, this.#options.sessionAttrs) === undefined) throw unsuitable(server, state);
    this.#systemId ??= state.systemId;
    if (state.systemId !== this.#systemId) throw otherCluster(server);
    if (this.#isForWrites && state.timeline < this.#timeline)
      throw new UnsuitableServer(
        `${server.name} is a stale primary of timeline ${state.timeline}: timeline ${this.#timeline} was seen already`,
      );
    this.#timeline = Math.max(this.#timeline, state.timeline);
  }

  /** The last promoted first, else in the order of the setting. */
  #compare(one: Found, other: Found): number {
    const { servers, sessionAttrs } = this.#options;
    const rank = ({ state }: Found) => rankOf(state, sessionAttrs) ?? servers.length;
    const byTimeline = this.#isForWrites ? other.state.timeline - one.state.timeline : 0;
    return rank(one) - rank(other) || byTimeline || servers.indexOf(one.server) - servers.indexOf(other.server);
  }

  #use(server: Server): ServerPool {
    if (this.#pool?.server === server) return this.#pool;
    const previous = this.#pool;
    this.#pool = this.#newPool(server);
    if (this.#lastUsed !== undefined && this.#lastUsed !== server) this.#failovers++;
    this.#lastUsed = server;
    previous?.cut();
    for (const listener of this.#onMoved) listener();
    return this.#pool;
  }

  #newPool(server: Server): ServerPool {
    return new ServerPool(server, {
      ...this.#options,
      accept: this.#isPlain ? undefined : (place, state) => this.#accept(place, state),
      onDemotion: (pool) => this.#retire(pool),
    });
  }

  /**
   * The other connections of a demoted server are as useless as the one that was refused. What runs on them may be
   * reads, which are let end. A server that is read-only for long must not cost a pool for each refused write.
   */
  #retire(pool: ServerPool): void {
    const nowMs = performance.now();
    if (pool !== this.#pool || nowMs - this.#demotedAtMs < DEMOTION_EVERY_MS) return;
    this.#demotedAtMs = nowMs;
    this.#options.log.warn({ server: pool.server.name }, 'the database server takes no writes any more');
    this.#pool = this.#isPlain ? this.#newPool(pool.server) : undefined;
    pool.end().catch(() => undefined);
  }

  /** Finds a server that was promoted while the one in use lives on, and one that came back unfenced. */
  async #lookForStrays(): Promise<void> {
    const inUse = this.#pool?.server;
    if (inUse === undefined || this.#search !== undefined) return;
    const { servers, limits, sessionAttrs } = this.#options;
    const others = servers.filter((server) => server !== inUse);
    const looks = others.map(async (server) => ({ server, state: await inspect(server, limits) }));
    const writable = (await Promise.allSettled(looks))
      .flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []))
      .filter(({ state }) => rankOf(state, sessionAttrs) !== undefined);
    if (this.#pool?.server !== inUse) return;
    if (writable.some(({ state }) => state.timeline > this.#timeline)) await this.#find().catch(() => undefined);
    else this.#setStrays(writable.map(({ server }) => server.name));
  }

  #setStrays(names: readonly string[]): void {
    if (names.join() === this.#strays.join()) return;
    this.#strays = names;
    for (const warning of this.warnings) this.#options.log.error(warning);
  }
}

/** Every result, or those that came within the grace after the first: a dead machine must not delay a living one. */
async function gather(
  servers: readonly Server[],
  look: (server: Server) => Promise<Found | undefined>,
): Promise<Found[]> {
  const found: Found[] = [];
  const late = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const looks = servers.map(async (server) => {
    const one = await look(server);
    if (one === undefined) return;
    found.push(one);
    timer ??= setTimeout(late.resolve, SERVER_GRACE_MS);
  });
  await Promise.race([Promise.all(looks), late.promise]);
  clearTimeout(timer);
  return [...found];
}

function problemOf({ name }: Server, error: unknown): string {
  const reasons = error instanceof AggregateError ? error.errors : [error];
  const reason = reasons.map((one) => (one instanceof Error ? one.message : String(one))).join(', ');
  return reason.startsWith(name) ? reason : `${name}: ${reason}`;
}

function otherCluster({ name }: Server): UnsuitableServer {
  return new UnsuitableServer(`${name} is no replica of the others: its system identifier differs`);
}
