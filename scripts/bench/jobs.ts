import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type Gateway, type Subject, startGateway } from './gateway.ts';
import { forkServer } from './servers.ts';
import type { Row } from './table.ts';

const ACCOUNTS = 384;
/** The last of them are for measuring admission; a job of theirs finds a place as long as they have fewer than 64. */
const ACCOUNTS_MEASURING = 64;
const CALLERS = 64;
const JOBS_DRIVEN = 2_000;
const JOBS_ADMITTED = 1_920;
const JOBS_OPEN = 20_000;
const WATCHED_MS = 30_000;
const MIB = 1024 * 1024;

/** Jobs: how fast they come in, how fast they get done, and what it costs to wait for many of them. */
export async function benchJobs(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-studio.ts');
  const gateway = await startGateway(subject, upstream.url);
  const agent = new Agent({ connections: CALLERS, pipelining: 1 });
  const bench = new JobBench(gateway, agent);
  try {
    await bench.makeAccounts();
    return [...(await bench.driven()), ...(await bench.admittedAndWaiting())];
  } finally {
    await agent.close();
    await Promise.all([gateway.stop(), upstream.stop()]);
  }
}

interface Account {
  readonly id: string;
  readonly key: string;
}

class JobBench {
  readonly #gateway: Gateway;
  readonly #agent: Agent;
  #accounts: Account[] = [];

  constructor(gateway: Gateway, agent: Agent) {
    this.#gateway = gateway;
    this.#agent = agent;
  }

  async makeAccounts(): Promise<void> {
    this.#accounts = await inParallel(ACCOUNTS, async (index) => {
      const { id } = await this.#gateway.admin<{ id: string }>('/accounts', { name: `bench ${index}` });
      await this.#gateway.admin(`/accounts/${id}/grants`, { credits: 1_000_000 });
      const { key } = await this.#gateway.admin<{ key: string }>(`/accounts/${id}/keys`, { name: 'bench' });
      return { id, key };
    });
  }

  /** From the first call until the last has succeeded. */
  async driven(): Promise<Row[]> {
    const started = performance.now();
    const cpuBefore = this.#cpuMicros();
    await this.#createMany(JOBS_DRIVEN, 'bench/instant', this.#accounts);
    while ((await this.#openJobs()) > 0) await sleep(50);
    const seconds = (performance.now() - started) / 1000;
    const cpu = (this.#cpuMicros() - cpuBefore) / JOBS_DRIVEN;
    return [
      row('jobs made and done per second, 100 KiB each', JOBS_DRIVEN / seconds, '≥ 200'),
      row('the same, processor µs per job', cpu, ''),
    ];
  }

  async admittedAndWaiting(): Promise<Row[]> {
    const none = await this.#admissionRate();
    const memoryBefore = this.#gateway.used().residentBytes;
    await this.#createMany(JOBS_OPEN, 'bench/slow', this.#accounts.slice(0, -ACCOUNTS_MEASURING));
    // By then most of them are asked after only every thirty seconds.
    await sleep(WATCHED_MS * 4);
    const cpuBefore = this.#cpuMicros();
    await sleep(WATCHED_MS);
    const cores = (this.#cpuMicros() - cpuBefore) / 1000 / WATCHED_MS;
    const memory = (this.#gateway.used().residentBytes - memoryBefore) / MIB;
    const many = await this.#admissionRate();
    return [
      row('jobs admitted per second, 64 callers', none, '≥ 400'),
      {
        measure: `admission with ${JOBS_OPEN} open, against none`,
        bare: none,
        tollgate: many,
        ratio: none / many,
        goal: '≤ 1.3',
      },
      row(`waiting for ${JOBS_OPEN} jobs, cores`, cores, '≤ 0.25'),
      row(`waiting for ${JOBS_OPEN} jobs, MiB more`, memory, '≤ 150'),
    ];
  }

  #cpuMicros(): number {
    return this.#gateway.used().cpuMicros;
  }

  async #admissionRate(): Promise<number> {
    const started = performance.now();
    await this.#createMany(JOBS_ADMITTED, 'bench/slow', this.#accounts.slice(-ACCOUNTS_MEASURING));
    return JOBS_ADMITTED / ((performance.now() - started) / 1000);
  }

  async #createMany(jobs: number, model: string, accounts: readonly Account[]): Promise<void> {
    await inParallel(jobs, async (index) => {
      const account = accounts[index % accounts.length];
      const path = model === 'bench/slow' ? '/v1/videos' : '/v1/images/generations';
      const headers = { authorization: `Bearer ${account?.key}`, 'idempotency-key': randomUUID() };
      await this.#post(path, headers, { model, prompt: 'a gate in the rain' });
    });
  }

  async #openJobs(): Promise<number> {
    let open = 0;
    for (const status of ['queued', 'running']) {
      const counts = await inParallel(ACCOUNTS, async (index) => {
        const headers = { authorization: `Bearer ${this.#accounts[index]?.key}` };
        const url = `${this.#gateway.url}/v1/jobs?status=${status}&limit=1`;
        const { body } = await request(url, { headers, dispatcher: this.#agent });
        return ((await body.json()) as { data: unknown[] }).data.length;
      });
      open += counts.reduce((sum, count) => sum + count, 0);
    }
    return open;
  }

  async #post(path: string, headers: Record<string, string>, body: object): Promise<void> {
    const { statusCode, body: answer } = await request(this.#gateway.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      dispatcher: this.#agent,
    });
    const text = await answer.text();
    if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${text}`);
  }
}

function row(measure: string, figure: number, goal: string): Row {
  return { measure, bare: undefined, tollgate: figure, ratio: '', goal };
}

/** Many pieces of work, at most so many at a time as there are callers. */
async function inParallel<Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const caller = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return results;
}
