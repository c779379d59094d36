// Restarts processes of one deployment, one after the other, under load that never stops, and counts what failed.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { request } from 'undici';
import { type EmbeddedServer, startServer } from '../../packages/verify/src/server.ts';
import { openDb } from '../../src/db/index.ts';
import { Balancer } from './balancer.ts';
import { type Member, startMember } from './fleet.ts';
import { Load, type Outcome } from './load.ts';
import { PRICES, Upstreams } from './upstreams.ts';

export const THIS_TREE = fileURLToPath(new URL('../..', import.meta.url));
const ADMIN_TOKEN = 'admin-token-of-the-rolling';
const MEMBERS = 3;
/** Many probes of the balancer, which has its turn late on a busy machine. */
const STOP_DELAY_SECONDS = 3;
const CREDITS = 1_000_000;

export interface Plan {
  readonly restarts: number;
  /** The tree that a process is started from: the first ones, then the one of each restart. */
  readonly treeOf?: (restart: number | 'first') => string;
  /** Before the restarts, with all processes up and the load on. */
  readonly beforeRestarts?: (environment: NodeJS.ProcessEnv) => Promise<void>;
  readonly progress?: (line: string) => void;
}

export interface Rolled extends Outcome {
  readonly restarts: number;
  /** The longest that a process took from the signal to its end. */
  readonly drainMsMax: number;
  readonly balanced: boolean;
  /** Credits that were spent, and what the work that was done costs. */
  readonly spent: number;
  readonly cost: number;
  readonly reserved: number;
  readonly complaints: readonly string[];
}

export async function roll(plan: Plan): Promise<Rolled> {
  const server = await startServer(process.env);
  const upstreams = new Upstreams();
  await upstreams.start();
  const balancer = await Balancer.start();
  const members: Member[] = [];
  try {
    const environment = await environmentFor(server, upstreams, balancer);
    return await rollMembers(plan, { environment, balancer, members });
  } finally {
    await Promise.all(members.map((member) => member.kill()));
    await balancer.stop();
    await upstreams.stop();
    await server.stop();
  }
}

interface Deployment {
  readonly environment: NodeJS.ProcessEnv;
  readonly balancer: Balancer;
  readonly members: Member[];
}

async function rollMembers(plan: Plan, { environment, balancer, members }: Deployment): Promise<Rolled> {
  const { restarts, treeOf = () => THIS_TREE, progress = () => undefined } = plan;
  const start = async (restart: number | 'first') => {
    const member = await startMember(treeOf(restart), environment);
    await balancer.add(member);
    return member;
  };
  while (members.length < MEMBERS) members.push(await start('first'));
  const key = await newCustomer(balancer.url);
  const load = new Load(balancer.url, key);
  const gone: Member[] = [];
  let drainMsMax = 0;
  const restartAll = async () => {
    await plan.beforeRestarts?.(environment);
    for (let restart = 0; restart < restarts; restart++) {
      const place = restart % MEMBERS;
      const old = members[place];
      if (old === undefined) throw new Error('a member is missing');
      const drainMs = await old.drain();
      balancer.remove(old);
      gone.push(old);
      drainMsMax = Math.max(drainMsMax, drainMs);
      members[place] = await start(restart);
      progress(`restart ${restart + 1}: drained in ${Math.round(drainMs)} ms, ${load.count} pieces of work done`);
    }
  };
  const outcome = await restartAll().then(
    () => load.stop(),
    async (error: unknown) => {
      await load.stop();
      throw error;
    },
  );
  const cost = Object.entries(outcome.done).reduce(
    (sum, [work, count]) => sum + count * PRICES[work as keyof typeof PRICES],
    0,
  );
  return {
    ...outcome,
    restarts,
    drainMsMax,
    cost,
    complaints: [...gone, ...members].flatMap(({ complaints }) => complaints),
    ...(await accountsOf(balancer.url, key)),
  };
}

async function environmentFor(server: EmbeddedServer, { configuration, fileHosts }: Upstreams, balancer: Balancer) {
  const { host, port, user } = server.postgres.connection;
  const db = openDb(server.postgres.connection, pino({ level: 'silent' }));
  const name = `rolling_${process.pid}`;
  await db.run(`create database ${name} template template0`);
  await db.close();
  const data = join(server.folder, name);
  await mkdir(data, { mode: 0o700 });
  const file = join(data, 'rolling.yaml');
  await writeFile(file, JSON.stringify(configuration));
  return {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(server.folder, 'compiled'),
    PORT: '0',
    PUBLIC_URL: balancer.url,
    DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    TOLLGATE_SECRET: 'root-secret-of-the-rolling-0123456789abcdef',
    TOLLGATE_CONFIG: file,
    TOLLGATE_DATA: data,
    TOLLGATE_FETCH_ALLOW: fileHosts,
    TOLLGATE_STOP_DELAY_SECONDS: String(STOP_DELAY_SECONDS),
  };
}

async function newCustomer(url: string): Promise<string> {
  const { id } = await call(url, 'POST', '/api/admin/accounts', ADMIN_TOKEN, { name: 'rolling' });
  const limits = { name: 'rolling', rpm: 1_000_000, concurrency: 1_000 };
  const { key } = await call(url, 'POST', `/api/admin/accounts/${id}/keys`, ADMIN_TOKEN, limits);
  await call(url, 'POST', `/api/admin/accounts/${id}/grants`, ADMIN_TOKEN, { credits: CREDITS });
  return key;
}

/** When all work is done: what was spent, what is held, and whether the books balance. */
async function accountsOf(url: string, key: string) {
  const { spent, reserved } = await call(url, 'GET', '/v1/credits', key);
  const { balanced } = await call(url, 'GET', '/api/admin/books?full=1', ADMIN_TOKEN);
  return { spent: Number(spent), reserved: Number(reserved), balanced: balanced === true };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes are looked into
async function call(url: string, method: 'GET' | 'POST', path: string, key: string, body?: object): Promise<any> {
  const { statusCode, body: answer } = await request(url + path, {
    method,
    reset: true,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`${method} ${path} answered ${statusCode} ${text}`);
  return JSON.parse(text);
}

export function showRolled({ restarts, requests, done, failures, ...rest }: Rolled): string {
  const works = Object.entries(done).map(([work, count]) => `${count} × ${work}`);
  return [
    `${restarts} restarts, ${requests} requests (${works.join(', ')}), ${failures.length} failures`,
    `longest drain ${Math.round(rest.drainMsMax)} ms; spent ${rest.spent}, cost ${rest.cost}, held ${rest.reserved}, books ${rest.balanced ? 'balanced' : 'NOT balanced'}`,
    ...failures,
    ...rest.complaints,
  ].join('\n');
}

/** Whether nothing failed and nothing is amiss. */
export function isSound({ failures, balanced, spent, cost, reserved, complaints }: Rolled): boolean {
  return failures.length + complaints.length === 0 && balanced && spent === cost && reserved === 0;
}
