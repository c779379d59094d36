import autocannon from 'autocannon';
import type { BenchServer } from './child.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 3;
const CONNECTIONS = 32;
const WARM_UP_REQUESTS = 10_000;
/** A virtual machine can stand still for seconds, which is no fault of the server under test. */
const ANSWER_WITHIN_SECONDS = 60;

export interface Load {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly method?: 'GET' | 'POST';
  readonly body?: string | Buffer;
  readonly connections?: number;
  readonly warmUpRequests?: number;
}

export interface Figures {
  /** Processor time of the server per request, in microseconds. */
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
}

/**
 * Loads the servers in turn, so that whatever else the machine does falls on all of them, and takes the medians. Before
 * that each has answered as many requests as the others: code that is still being compiled tells nothing.
 */
export async function measureInTurn(servers: readonly BenchServer[], load: Load): Promise<Figures[]> {
  const rounds: Figures[][] = servers.map(() => []);
  for (const server of servers) await loadOnce(server, load, { amount: load.warmUpRequests ?? WARM_UP_REQUESTS });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, server] of servers.entries()) rounds[index]?.push(await loadOnce(server, load));
  }
  return rounds.map((figures) => ({
    cpuMicros: median(figures.map((figure) => figure.cpuMicros)),
    requestsPerSecond: median(figures.map((figure) => figure.requestsPerSecond)),
  }));
}

/** For a while, or for an amount of requests. */
export async function loadOnce(server: BenchServer, load: Load, until: { amount?: number } = {}): Promise<Figures> {
  const before = await server.used();
  const result = await autocannon({
    url: server.url + load.path,
    method: load.method ?? 'GET',
    headers: { ...load.headers, authorization: `Bearer ${server.key}` },
    ...(load.body === undefined ? {} : { body: load.body }),
    connections: load.connections ?? CONNECTIONS,
    timeout: ANSWER_WITHIN_SECONDS,
    ...(until.amount === undefined ? { duration: ROUND_SECONDS } : { amount: until.amount }),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors during the measurement`);
  }
  const used = await server.used();
  return {
    cpuMicros: (used.cpuMicros - before.cpuMicros) / result.requests.total,
    requestsPerSecond: result.requests.average,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
