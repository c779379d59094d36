import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Pool } from 'undici';

/** A virtual machine can stand still for seconds, which is no fault of the server under test. */
const ANSWER_WITHIN_SECONDS = 60;
const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));
const hasWrk = spawnSync('wrk', ['--version']).error === undefined;
if (!hasWrk)
  console.error('wrk is not installed: Node generates the load, and competes with the servers for processors.');

/** The same request again and again on each of so many connections, after a random pause of `thinkMs` on average. */
export interface Traffic {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly connections: number;
  readonly thinkMs: number;
  readonly seconds: number;
}

export interface Outcome {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Throws if any request was refused or failed. */
export async function generate(traffic: Traffic): Promise<Outcome> {
  const { faults, ...outcome } = hasWrk ? await runWrk(traffic) : await runNode(traffic);
  if (Object.values(faults).some((count) => count > 0)) {
    throw new Error(`requests failed during the measurement: ${JSON.stringify(faults)}`);
  }
  return outcome;
}

interface RawOutcome extends Outcome {
  /** How many requests failed, by kind: refused by their status, or without an answer. */
  readonly faults: Readonly<Record<string, number>>;
}

async function runWrk({ url, method, headers, body, connections, thinkMs, seconds }: Traffic): Promise<RawOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const bodyFile = join(folder, 'body');
  await writeFile(bodyFile, body);
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const limits = ['-t', '1', '-c', connections, '-d', seconds, '--timeout', ANSWER_WITHIN_SECONDS].map(String);
  try {
    const args = [...limits, ...fields, '-s', SCRIPT, url, '--', method, bodyFile, String(thinkMs)];
    const { stdout } = await promisify(execFile)('wrk', args);
    return JSON.parse(stdout.slice(stdout.indexOf('{')));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runNode({ url, method, headers, body, connections, thinkMs, seconds }: Traffic): Promise<RawOutcome> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections });
  const latencies: number[] = [];
  let status = 0;
  const startMs = performance.now();
  const caller = async () => {
    while (performance.now() < startMs + seconds * 1000) {
      if (thinkMs > 0) await sleep(Math.random() * 2 * thinkMs);
      const sentMs = performance.now();
      const answer = await pool.request({
        method,
        path: pathname + search,
        headers,
        body: method === 'GET' ? null : body,
      });
      await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
      if (answer.statusCode >= 400) status += 1;
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  const elapsedSeconds = (performance.now() - startMs) / 1000;
  await pool.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { requests: latencies.length, seconds: elapsedSeconds, faults: { status }, p50Ms: at(0.5), p99Ms: at(0.99) };
}
