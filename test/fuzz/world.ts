// All that a campaign needs: a database, the upstreams, one gateway, a probe of its health, and credentials of every kind.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Edit } from '../../packages/verify/src/edits.ts';
import { systemClock } from '../../src/clock.ts';
import { type Db, type DbAddress, openDb } from '../../src/db/index.ts';
import { Browser } from '../support/browser.ts';
import { silentLog } from '../support/database.ts';
import { Apps } from '../support/tokens.ts';
import { configurationOf } from './catalogue.ts';
import type { BrowserSecrets, Secrets } from './credentials.ts';
import type { ProbeOrder, ProbeReport } from './health-probe.ts';
import type { GatewayReport, Question } from './process.ts';
import type { UpstreamReport } from './upstream.ts';

const ADMIN_TOKEN = 'admin-token-of-the-fuzzer';
const PUBLIC_URL = 'http://gateway.test';
const PASSWORD = 'correct horse battery';
const DAY_MS = 86_400_000;
const TRIES_MAX = 60;
const AGAIN_MS = 500;
/** The flags of `npm start`: what is measured is what runs. */
const FLAGS = [
  ...['--expose-gc', '--external-memory-accounted-in-global-limit', '--heap-growing-percent=200'],
  ...['--memory-reducer-gc-count=0', '--no-parallel-scavenge'],
];
/** What would run on other machines gives way to the gateway and its database. */
const GENERATOR_PRIORITY = 10;

export interface FuzzDatabase {
  readonly address: DbAddress;
  readonly url: string;
  readonly dataFolder: string;
}

export interface WorldOptions {
  readonly database: FuzzDatabase;
  readonly seed: number;
  /** Planted faults. */
  readonly edits?: readonly Edit[];
}

export type Memory = Extract<GatewayReport, { report: 'memory' }>;

export class FuzzWorld {
  readonly url: string;
  readonly db: Db;
  readonly configuration: unknown;
  readonly ports: UpstreamReport;
  readonly errors: string[];
  /** Called with the length of each long turn of the gateway's event loop. */
  onBlocked: (ms: number) => void = () => undefined;
  readonly #gateway: ChildProcess;
  readonly #upstream: ChildProcess;
  readonly #probe: ChildProcess;

  private constructor(
    url: string,
    db: Db,
    ports: UpstreamReport,
    errors: string[],
    children: { gateway: ChildProcess; upstream: ChildProcess; probe: ChildProcess },
  ) {
    this.url = url;
    this.db = db;
    this.ports = ports;
    this.errors = errors;
    this.configuration = configurationOf(ports);
    this.#gateway = children.gateway;
    this.#upstream = children.upstream;
    this.#probe = children.probe;
    this.#gateway.on('message', (report: GatewayReport) => {
      if (report.report === 'blocked') this.onBlocked(report.ms);
    });
  }

  static async open({ database, seed, edits = [] }: WorldOptions): Promise<FuzzWorld> {
    const upstream = start('./upstream.ts', [String(seed)], []);
    const [ports] = (await once(upstream, 'message')) as [UpstreamReport];
    const errors: string[] = [];
    const gateway = start('./process.ts', [JSON.stringify(edits)], FLAGS, environmentOf(database, ports));
    gateway.on('message', (report: GatewayReport) => {
      if (report.report === 'error') errors.push(report.line);
    });
    const url = await readyUrl(gateway);
    const probe = start('./health-probe.ts', [url, String(gateway.pid)], []);
    // Only now, since processes inherit it.
    for (const generator of [process, upstream]) setPriority(generator.pid ?? 0, GENERATOR_PRIORITY);
    const db = openDb(database.address, silentLog);
    return new FuzzWorld(url, db, ports, errors, { gateway, upstream, probe });
  }

  /** Whether the gateway that was started in the beginning still runs. */
  get isUp(): boolean {
    return this.#gateway.exitCode === null && this.#gateway.signalCode === null;
  }

  async memory(): Promise<Memory> {
    await this.#orderProbe('rest');
    try {
      this.#tell('memory');
      for (;;) {
        const [report] = (await once(this.#gateway, 'message')) as [GatewayReport];
        if (report.report === 'memory') return report;
      }
    } finally {
      await this.#orderProbe('go on');
    }
  }

  health(): Promise<ProbeReport> {
    return this.#orderProbe('report');
  }

  async #orderProbe(order: ProbeOrder): Promise<ProbeReport> {
    this.#probe.send(order);
    const [report] = (await once(this.#probe, 'message')) as [ProbeReport];
    return report;
  }

  async close(): Promise<void> {
    this.#probe.kill();
    if (this.isUp) {
      const ended = once(this.#gateway, 'exit');
      this.#tell('stop');
      await ended;
    }
    this.#upstream.kill();
    await this.db.close();
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape are looked into
  async admin(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<any> {
    const answer = await request(`${this.url}/api/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Puts the configuration of the campaign in force. */
  async restore(): Promise<void> {
    await this.#insist('PUT', '/config', this.configuration);
  }

  async enable(upstreamId: string): Promise<void> {
    await this.#insist('PATCH', `/upstreams/${upstreamId}`, { enabled: true });
  }

  /** On a busy machine the database may be away for a moment. */
  async #insist(method: 'PUT' | 'PATCH', path: string, body: unknown): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return void (await this.admin(method, path, body));
      } catch (error) {
        if (tries === TRIES_MAX || !this.isUp) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  /** Accounts, keys, tokens and sessions of every kind. */
  async makeSecrets(database: FuzzDatabase): Promise<Secrets> {
    const account = async (email?: string) => {
      const person = email === undefined ? {} : { email, password: PASSWORD };
      return (await this.admin('POST', '/accounts', { name: 'fuzz', ...person })).id as string;
    };
    const key = (id: string) =>
      this.admin('POST', `/accounts/${id}/keys`, { name: 'fuzz', rpm: 1_000_000, concurrency: 1_000 });
    const rich = await account('owner@example.com');
    await this.admin('POST', `/accounts/${rich}/grants`, { credits: 1_000_000_000 });
    const revoked = await key(rich);
    await this.admin('DELETE', `/keys/${revoked.id}`);
    const apps = await Apps.open({ database, clock: systemClock });
    const grant = await apps.grant(rich);
    const narrow = await apps.grant(rich, { scopes: ['user:credits'] });
    const [expiresAt, expiredAt] = [new Date(Date.now() + DAY_MS), new Date(Date.now() - DAY_MS)];
    const { url: link } = await this.admin('POST', '/operators', {
      email: 'op@example.com',
      operator_role: 'operator',
    });
    const secrets = {
      admin: ADMIN_TOKEN,
      key: (await key(rich)).key,
      poorKey: (await key(await account())).key,
      revokedKey: revoked.key,
      token: await apps.token(grant, { expiresAt }),
      narrowToken: await apps.token(narrow, { expiresAt }),
      expiredToken: await apps.token(grant, { expiresAt: expiredAt }),
      owner: await this.#signIn('owner@example.com'),
      operator: await this.#signIn('op@example.com', new URL(link).pathname),
    };
    await apps.close();
    return secrets;
  }

  async #signIn(email: string, invitation?: string): Promise<BrowserSecrets> {
    const browser = new Browser(this.url, PUBLIC_URL);
    if (invitation !== undefined)
      await browser.submit(await browser.open(invitation), { name: 'x', password: PASSWORD });
    else await browser.submit(await browser.open('/sign-in'), { email, password: PASSWORD });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await request(`${this.url}/api/console/session`, { headers: { cookie } });
    const { csrf_token: csrf } = (await answer.body.json()) as { csrf_token: string };
    return { cookie, csrf, origin: PUBLIC_URL };
  }

  #tell(question: Question): void {
    this.#gateway.send(question);
  }
}

function start(script: string, args: string[], execArgv: string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  return fork(path, args, { execArgv, env, stdio: [...stdio], serialization: 'advanced' });
}

async function readyUrl(gateway: ChildProcess): Promise<string> {
  const failed = once(gateway, 'exit').then(() => Promise.reject(new Error('the gateway did not start')));
  for (;;) {
    const [report] = (await Promise.race([once(gateway, 'message'), failed])) as [GatewayReport];
    if (report.report === 'ready') {
      failed.catch(() => undefined);
      return report.url;
    }
  }
}

function environmentOf(database: FuzzDatabase, { honest, liar }: UpstreamReport): NodeJS.ProcessEnv {
  const many = '1000000';
  return {
    PATH: process.env.PATH,
    TMPDIR: process.env.TMPDIR,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    // As `npm start` sets it.
    MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '2',
    PORT: '0',
    PUBLIC_URL,
    DATABASE_URL: database.url,
    TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    TOLLGATE_DATA: database.dataFolder,
    TOLLGATE_FETCH_ALLOW: `127.0.0.1:${honest},127.0.0.1:${liar}`,
    TOLLGATE_SECRET: 'root-secret-of-the-fuzzer-0123456789abcdef',
    TOLLGATE_RPM: many,
    TOLLGATE_TOKEN_RPM: many,
    TOLLGATE_CONCURRENCY: '1000',
    TOLLGATE_TOKEN_CONCURRENCY: '1000',
    TOLLGATE_SIGNUP: 'open',
  };
}
