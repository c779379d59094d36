// All that a round of chaos happens to: a database, upstreams, gateways, a clock, and what the clients were told.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { systemClock } from '../../../src/clock.ts';
import type { Environment } from '../../../src/config.ts';
import { type Db, openDb } from '../../../src/db/index.ts';
import type { Edit } from './edits.ts';
import { type Gateway, Gateways } from './gateways.ts';

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

/** A server for any number of worlds. */
export interface Server {
  readonly folder: string;
  readonly postgres: EmbeddedPostgres;
  /** What every gateway's settings begin with. */
  readonly environment: Environment;
  stop(): Promise<void>;
}

/** `environment` has the path and, where there is one, the compile cache of the gateways. */
export async function startServer(environment: Environment): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-chaos-'));
  // What the server has written survives its own death, if not the machine's.
  const settings = { fsync: 'off' };
  const log = pino({ level: 'silent' });
  const postgres = await startEmbeddedPostgres({ folder, log, progress: () => undefined, settings });
  const stop = async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const { PATH, NODE_COMPILE_CACHE = join(folder, 'compiled') } = environment;
  return { folder, postgres, environment: { PATH, NODE_COMPILE_CACHE }, stop };
}

export class World<Upstreams extends WorldUpstreams = WorldUpstreams> {
  readonly server: Server;
  readonly db: Db;
  readonly upstreams: Upstreams;
  readonly gateways: Gateways;
  readonly objectFolder: string;
  readonly complaints: string[] = [];
  readonly agent = new Agent({ connect: { timeout: ANSWER_MS_MAX } });

  private constructor(
    server: Server,
    db: Db,
    upstreams: Upstreams,
    environment: NodeJS.ProcessEnv,
    edits: readonly Edit[],
  ) {
    this.server = server;
    this.db = db;
    this.upstreams = upstreams;
    this.objectFolder = join(environment.TOLLGATE_DATA ?? '', 'objects');
    this.gateways = new Gateways({ db, environment, edits, complaints: this.complaints });
  }

  static async open<Upstreams extends WorldUpstreams>(
    server: Server,
    name: string,
    upstreams: Upstreams,
    edits: readonly Edit[] = [],
  ): Promise<World<Upstreams>> {
    const { host, port, user } = server.postgres.connection;
    const log = pino({ level: 'silent' });
    const maker = openDb(server.postgres.connection, log);
    await maker.run(`create database ${name} template template0`);
    await maker.close();
    const data = join(server.folder, name);
    await mkdir(data, { mode: 0o700 });
    const configuration = join(data, 'chaos.yaml');
    await writeFile(configuration, JSON.stringify(upstreams.configuration));
    const environment = {
      ...server.environment,
      PORT: '0',
      DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      TOLLGATE_CONFIG: configuration,
      TOLLGATE_DATA: data,
      TOLLGATE_FETCH_ALLOW: upstreams.fileHosts,
      TOLLGATE_SECRET: 'root-secret-of-the-chaos-0123456789abcdef',
      TOLLGATE_TEST_CLOCK: '1',
    };
    const db = openDb({ ...server.postgres.connection, database: name }, log);
    return new World(server, db, upstreams, environment, edits);
  }

  async close(): Promise<void> {
    await this.gateways.stop();
    await this.agent.destroy();
    await this.upstreams.stop();
    await this.db.close();
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
    const killed = await this.#postmaster();
    process.kill(killed, 'SIGKILL');
    whileAway();
    for (let look = 0; look < CALLS_MAX; look++) {
      // Sessions of the dead server may still answer.
      const next = await this.#postmaster().catch(() => killed);
      const isBack = next !== killed && (await this.db.rows('select 1').catch(() => [])).length > 0;
      if (isBack) return;
      await sleep(CALL_AGAIN_MS);
    }
    throw new Error('the database does not come back');
  }

  async #postmaster(): Promise<number> {
    const file = await readFile(join(this.server.folder, 'postgres', 'postmaster.pid'), 'utf8');
    return Number.parseInt(file, 10);
  }
}

interface CallOptions {
  readonly key: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
