import autocannon from 'autocannon';
import type { BenchServer } from './child.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 3;
const CONNECTIONS = 32;

export interface Load {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
}

export interface Figures {
  /** Processor time of the server per request, in microseconds. */
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
}

/** Loads the servers in turn, so that whatever else the machine does falls on all of them, and takes the medians. */
export async function measureInTurn(servers: readonly BenchServer[], load: Load): Promise<Figures[]> {
  const rounds: Figures[][] = servers.map(() => []);
  for (const server of servers) await loadOnce(server, load);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, server] of servers.entries()) rounds[index]?.push(await loadOnce(server, load));
  }
  return rounds.map((figures) => ({
    cpuMicros: median(figures.map((figure) => figure.cpuMicros)),
    requestsPerSecond: median(figures.map((figure) => figure.requestsPerSecond)),
  }));
}

async function loadOnce(server: BenchServer, load: Load): Promise<Figures> {
  const before = await server.cpuMicros();
  const result = await autocannon({
    url: server.url + load.path,
    method: load.method ?? 'GET',
    headers: { ...load.headers, authorization: `Bearer ${server.key}` },
    ...(load.body === undefined ? {} : { body: load.body }),
    connections: CONNECTIONS,
    duration: ROUND_SECONDS,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors during the measurement`);
  }
  const used = (await server.cpuMicros()) - before;
  return { cpuMicros: used / result.requests.total, requestsPerSecond: result.requests.average };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
