import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { installPackage } from '../debian.ts';
import { freePorts } from '../free-ports.ts';

/** Debian's own: its packages are for no other. */
const PYTHON = '/usr/bin/python3';
const PACKAGE = 'python3-swift';
const START_MS_MAX = 60_000;
const STORAGE = ['account', 'container', 'object'] as const;

export interface Swift {
  readonly endpoint: string;
  readonly environment: Record<string, string>;
  stop(): Promise<void>;
}

/** What keeps Swift from running on this machine; it is installed first where it can be. */
export function installSwift(): string | undefined {
  return installPackage(PACKAGE, isInstalled);
}

function isInstalled(): boolean {
  return spawnSync(PYTHON, ['-c', 'import swift.common.middleware.s3api.s3api']).status === 0;
}

/** The S3 interface of OpenStack Swift over one disk: four servers in a temporary folder. */
export async function startSwift(): Promise<Swift> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-swift-'));
  const servers: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(servers.map(kill));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    mkdirSync(join(folder, 'devices', 'disk'), { recursive: true });
    writeFileSync(join(folder, 'swift.conf'), configuration('swift', {}));
    const [proxyPort = 0, ...ports] = await freePorts(STORAGE.length + 1);
    runPython(['rings', folder, ...ports.map(String)]);
    for (const [index, kind] of STORAGE.entries()) {
      servers.push(serve(folder, kind, configuration('storage', { folder, kind, port: String(ports[index]) })));
    }
    servers.push(serve(folder, 'proxy', configuration('proxy', { folder, port: String(proxyPort) })));
    for (const [index, port] of [...ports, proxyPort].entries()) await untilHealthy(port, servers[index], folder);
    const environment = { AWS_ACCESS_KEY_ID: 'test:tester', AWS_SECRET_ACCESS_KEY: 'testing' };
    return { endpoint: `http://127.0.0.1:${proxyPort}`, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(name: string, values: Record<string, string>): string {
  const text = readFileSync(new URL(`./${name}.conf`, import.meta.url), 'utf8');
  const all: Record<string, string> = { ...values, user: userInfo().username };
  return text.replace(/\{(\w+)\}/g, (_, placeholder: string) => all[placeholder] ?? '');
}

const SCRIPT = fileURLToPath(new URL('./servers.py', import.meta.url));

function runPython(args: readonly string[]): void {
  const { status, stderr } = spawnSync(PYTHON, [SCRIPT, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`servers.py ${args[0]} failed: ${stderr}`);
}

function serve(folder: string, kind: string, text: string): ChildProcess {
  const path = join(folder, `${kind}-server.conf`);
  writeFileSync(path, text);
  const log = openSync(join(folder, `${kind}.log`), 'w');
  const child = spawn(PYTHON, [SCRIPT, 'serve', path, `${kind}-server`], { stdio: ['ignore', log, log] });
  closeSync(log);
  return child;
}

async function untilHealthy(port: number, server: ChildProcess | undefined, folder: string): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline && server?.exitCode === null) {
    const answer = await request(`http://127.0.0.1:${port}/healthcheck`, { reset: true }).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return;
    await sleep(50);
  }
  const logs = [...STORAGE, 'proxy'].map((kind) => readFileSync(join(folder, `${kind}.log`), 'utf8').trim());
  throw new Error(`Swift did not start:\n${logs.join('\n').slice(-2000)}`);
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}
