import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { configurationFor } from './configuration.ts';
import { childrenOf, commandOf, cpuMicrosOf, processTree, residentBytesOf } from './processes.ts';
import type { BenchServer, Usage } from './servers.ts';

export const ADMIN_TOKEN = 'admin-token-of-the-bench';
const UNLIMITED = { TOLLGATE_RPM: '1000000', TOLLGATE_CONCURRENCY: '100000' };
const UNLIMITED_TOKENS = { TOLLGATE_TOKEN_RPM: '1000000', TOLLGATE_TOKEN_CONCURRENCY: '100000' };
const LOOK_EVERY_MS = 20;

/** Which Tollgate is measured, and with which options of Node. */
export interface Subject {
  readonly tree: string;
  readonly nodeOptions: string;
  /** On one port; 1 unless it says otherwise. */
  readonly processes?: number;
  /** Settings beside those of every gateway that is measured. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Gateway extends BenchServer {
  readonly accountId: string;
  /** Its data. */
  readonly folder: string;
  /** `POST /api/admin…`. */
  admin<Answer>(path: string, body: object): Promise<Answer>;
}

/**
 * The gateway as an operator starts it: the launcher, embedded PostgreSQL with fsync, auth, limits and log on. The bench
 * knows nothing of it but its command, its settings and its routes, so that it can measure another tree just as well.
 */
export async function startGateway(subject: Subject, upstreamUrl?: string, studioUrl?: string): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const configuration = join(folder, 'bench.yaml');
  if (upstreamUrl !== undefined) await writeFile(configuration, configurationFor(upstreamUrl, studioUrl));
  const launched = await launch(subject, folder, upstreamUrl === undefined ? {} : { TOLLGATE_CONFIG: configuration });
  const { url } = launched;
  const admin = <Answer>(path: string, body: object) => postAdmin<Answer>(url, path, body);
  const { id: accountId } = await admin<{ id: string }>('/accounts', { name: 'bench' });
  await admin(`/accounts/${accountId}/grants`, { credits: 1_000_000 });
  const { key } = await admin<{ key: string }>(`/accounts/${accountId}/keys`, { name: 'bench' });
  return {
    url,
    key,
    accountId,
    folder: dataFolder(folder),
    admin,
    used: launched.used,
    stop: async () => {
      await launched.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the launcher and resolves when its gateway answers. */
export async function launch(
  { tree, nodeOptions, settings = {}, processes = 1 }: Subject,
  folder: string,
  configuration: Readonly<Record<string, string>>,
): Promise<Pick<BenchServer, 'url' | 'used' | 'stop'>> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // A tree from before there were several takes no such option.
  const several = processes === 1 ? [] : ['--processes', String(processes)];
  const launcher = spawn(process.execPath, [join(tree, 'bin/tollgate.mjs'), 'serve', ...several], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      TOLLGATE_DATA: dataFolder(folder),
      TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      ...configuration,
      ...(nodeOptions === '' ? {} : { NODE_OPTIONS: nodeOptions }),
      ...UNLIMITED,
      ...UNLIMITED_TOKENS,
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  process.once('exit', () => launcher.kill());
  let progress = '';
  launcher.stderr.on('data', (text: Buffer) => {
    progress += text;
  });
  const ended = once(launcher, 'exit');
  // The welcome comes when all are ready, the first answer when one is.
  while (!progress.includes('Ctrl-C') || !(await isHealthy(url))) {
    if (launcher.exitCode !== null) throw new Error(`the gateway did not start:\n${progress}`);
    await sleep(LOOK_EVERY_MS);
  }
  return {
    url,
    used: () => usageBelow(launcher.pid ?? 0),
    stop: async () => {
      launcher.kill();
      await ended;
    },
  };
}

function dataFolder(folder: string): string {
  return join(folder, 'data');
}

/** The launcher starts the gateway, which starts PostgreSQL, whose sessions and workers are processes below its first. */
function usageBelow(launcherPid: number): Usage {
  const [gatewayPid = 0] = childrenOf(launcherPid);
  const below = processTree(gatewayPid);
  const database = below.filter((pid) => commandOf(pid) === 'postgres');
  const { now, peak } = residentBytesOf(gatewayPid);
  return {
    cpuMicros: cpuMicrosOf(below.filter((pid) => !database.includes(pid))),
    databaseMicros: cpuMicrosOf(database),
    residentBytes: now,
    peakBytes: peak,
  };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/healthz`);
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}

async function postAdmin<Answer>(url: string, path: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const answer = await request(`${url}/api/admin${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as Answer;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
