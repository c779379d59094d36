// All that a round of chaos happens to: a database, upstreams, gateways, a clock, and what the clients were told.
import { mkdir, writeFile } from 'node:fs/promises';
import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { systemClock } from '../../../src/clock.ts';
import { type Db, openDb } from '../../../src/db/index.ts';
import { SmallDisk } from './disk.ts';
import type { Edit } from './edits.ts';
import { FaultProxy } from './fault-proxy.ts';
import { type Gateway, Gateways } from './gateways.ts';
import { redisTarget, withRedisProxy } from './redis-address.ts';
import { proxyTarget, type Server, withProxy } from './server.ts';

const ADMIN_TOKEN = 'admin-token-of-the-chaos';
const ANSWER_MS_MAX = 10_000;
const CALL_AGAIN_MS = 50;
const CALLS_MAX = 400;

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape are looked into
  readonly json: any;
}

/** What a world is put together around: it is started before the world and stopped with it. */
export interface WorldUpstreams {
  /** The operator's document. */
  readonly configuration: unknown;
  /** Hosts that may be fetched from, in the form of the setting that allows it. */
  readonly fileHosts: string;
  stop(): Promise<void>;
}

/** A paying caller. */
export interface Customer {
  readonly accountId: string;
  readonly key: string;
}

/** What stands between the gateways and their engines. Undefined where it cannot be had, or is not wanted. */
interface Faults {
  readonly disk: SmallDisk | undefined;
  readonly database: FaultProxy | undefined;
  readonly redis: FaultProxy | undefined;
}

interface Parts<Upstreams> {
  readonly server: Server;
  readonly db: Db;
  readonly upstreams: Upstreams;
  readonly environment: NodeJS.ProcessEnv;
  readonly edits: readonly Edit[];
  readonly faults: Faults;
}

export class World<Upstreams extends WorldUpstreams = WorldUpstreams> {
  readonly server: Server;
  readonly db: Db;
  readonly upstreams: Upstreams;
  readonly gateways: Gateways;
  readonly faults: Faults;
  readonly objectFolder: string;
  readonly complaints: string[] = [];
  readonly agent = new Agent({ connect: { timeout: ANSWER_MS_MAX } });

  private constructor({ server, db, upstreams, environment, edits, faults }: Parts<Upstreams>) {
    this.server = server;
    this.db = db;
    this.upstreams = upstreams;
    this.faults = faults;
    this.objectFolder = join(environment.TOLLGATE_DATA ?? '', 'objects');
    this.gateways = new Gateways({ db, environment, edits, complaints: this.complaints });
  }

  static async open<Upstreams extends WorldUpstreams>(
    server: Server,
    name: string,
    upstreams: Upstreams,
    edits: readonly Edit[] = [],
  ): Promise<World<Upstreams>> {
    const log = pino({ level: 'silent' });
    const place = await server.makeDatabase(name);
    const data = join(server.folder, name);
    await mkdir(data, { mode: 0o700 });
    const { means } = server;
    const faults: Faults = {
      disk: means.boundsDisk ? await SmallDisk.mount(join(data, 'objects')) : undefined,
      database: means.proxiesDatabase ? await openProxy(proxyTarget(place.url)) : undefined,
      redis: means.redisUrl === undefined ? undefined : await openProxy(redisTarget(means.redisUrl)),
    };
    const configuration = join(data, 'chaos.yaml');
    await writeFile(configuration, JSON.stringify(upstreams.configuration));
    const environment = {
      ...server.environment,
      PORT: '0',
      DATABASE_URL: faults.database === undefined ? place.url : withProxy(place.url, faults.database.port),
      ...(faults.redis && { REDIS_URL: withRedisProxy(means.redisUrl ?? '', faults.redis.port) }),
      TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      TOLLGATE_CONFIG: configuration,
      TOLLGATE_DATA: data,
      TOLLGATE_FETCH_ALLOW: upstreams.fileHosts,
      TOLLGATE_SECRET: 'root-secret-of-the-chaos-0123456789abcdef',
      TOLLGATE_TEST_CLOCK: '1',
    };
    const db = openDb(place.address, log);
    return new World({ server, db, upstreams, environment, edits, faults });
  }

  async close(): Promise<void> {
    await this.gateways.stop();
    await this.agent.destroy();
    await this.upstreams.stop();
    await this.db.close();
    await this.faults.disk?.unmount();
    await this.faults.database?.close();
    await this.faults.redis?.close();
  }

  /** One call to one gateway. Undefined: its outcome is unknown. */
  async call(
    gateway: Gateway,
    method: 'GET' | 'POST',
    path: string,
    options: CallOptions,
  ): Promise<Answer | undefined> {
    const { key, body, headers = {} } = options;
    try {
      const answer = await request(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body === undefined ? null : JSON.stringify(body),
        dispatcher: this.agent,
        headersTimeout: ANSWER_MS_MAX,
        bodyTimeout: ANSWER_MS_MAX,
      });
      return { status: answer.statusCode, json: await answer.body.json() };
    } catch {
      return undefined;
    }
  }

  /** A call of the operator's, to a gateway that is up, until it works. */
  async admin(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer['json']> {
    let answer: Answer | undefined;
    for (let call = 0; call < CALLS_MAX; call++) {
      const gateway = this.gateways.up.at(-1);
      const options = { key: ADMIN_TOKEN, body };
      answer = gateway && (await this.call(gateway, method, `/api/admin${path}`, options));
      if (answer?.status === 200) return answer.json;
      if (answer !== undefined && answer.status < 500) break;
      await sleep(CALL_AGAIN_MS);
    }
    throw new Error(`${method} ${path} answered ${JSON.stringify(answer)}`);
  }

  /** Moves the test clock of all gateways. Tells whether one has confirmed it; if none has, it may have moved or not. */
  async move(seconds: number): Promise<boolean> {
    await this.gateways.bury();
    const gateway = this.gateways.up.at(-1);
    const options = { key: ADMIN_TOKEN, body: { advance_seconds: seconds } };
    const answer = gateway && (await this.call(gateway, 'POST', '/api/admin/clock', options));
    return answer?.status === 200;
  }

  /** Time passes whatever it takes. */
  async moveForSure(seconds: number): Promise<void> {
    for (let tries = 0; tries < CALLS_MAX; tries++) {
      if (await this.move(seconds)) return;
      await sleep(CALL_AGAIN_MS);
      await this.gateways.fill(1);
    }
    throw new Error('time does not pass');
  }

  /** The program's time. */
  async now(): Promise<Date> {
    const [row] = await this.db.rows<{ offset: bigint }>('select offset_ms as offset from test_clock');
    return new Date(systemClock.nowMs() + Number(row?.offset ?? 0n));
  }

  /** An account whose credits came in several pieces, the first of which do not go far. */
  async newCustomer(): Promise<Customer> {
    const { id } = await this.admin('POST', '/accounts', { name: 'chaos' });
    const { key } = await this.admin('POST', `/accounts/${id}/keys`, {
      name: 'chaos',
      rpm: 1_000_000,
      concurrency: 1_000,
    });
    for (const credits of [50, 130, 100_000]) await this.admin('POST', `/accounts/${id}/grants`, { credits });
    return { accountId: id, key };
  }

  /** Kills the database server while it is used, and waits until its supervisor has restarted it. */
  async killDatabase(whileAway: () => void): Promise<void> {
    const { postmaster } = this.server;
    if (postmaster === undefined) throw new Error('this database server is not the campaign’s own');
    const killed = await postmaster();
    process.kill(killed, 'SIGKILL');
    whileAway();
    for (let look = 0; look < CALLS_MAX; look++) {
      // Sessions of the dead server may still answer.
      const next = await postmaster().catch(() => killed);
      const isBack = next !== killed && (await this.db.rows('select 1').catch(() => [])).length > 0;
      if (isBack) return;
      await sleep(CALL_AGAIN_MS);
    }
    throw new Error('the database does not come back');
  }
}

function openProxy(target: NetConnectOpts | undefined): Promise<FaultProxy> | undefined {
  return target === undefined ? undefined : FaultProxy.open(target);
}

interface CallOptions {
  readonly key: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
