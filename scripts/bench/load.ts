import { setTimeout as sleep } from 'node:timers/promises';
import { generate, type Outcome } from './generator.ts';
import type { BenchServer } from './servers.ts';

const ROUNDS = 7;
const ROUND_SECONDS = 3;
/** Code that is still being compiled tells nothing about the code. */
const WARM_UP_SECONDS = 10;
const CONNECTIONS = 32;
/** The ledger makes entries of its journal a second later, and that belongs to the requests too. */
const SETTLE_MS = 1_500;

export interface Load {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly connections?: number;
  readonly thinkMs?: number;
}

export interface Figures extends Outcome {
  /** Processor time per request. */
  readonly cpuMicros: number;
  readonly databaseMicros: number;
}

/** One measurement of each, one right after the other. */
export interface Round {
  readonly bare: Figures;
  readonly tollgate: Figures;
}

/**
 * Loads both in turn, so that what else the machine does falls on both, and every other round the other way round: which
 * comes second finds the processors warm.
 */
export async function measureRounds(
  bare: BenchServer,
  tollgate: BenchServer,
  load: Load,
  rounds = ROUNDS,
  loadOfBare = load,
): Promise<Round[]> {
  const measure = (isBare: boolean, seconds?: number) =>
    isBare ? loadFor(bare, loadOfBare, seconds) : loadFor(tollgate, load, seconds);
  for (const isBare of [true, false]) await measure(isBare, WARM_UP_SECONDS);
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const isBareFirst = measured.length % 2 === 0;
    const first = await measure(isBareFirst);
    const second = await measure(!isBareFirst);
    measured.push(isBareFirst ? { bare: first, tollgate: second } : { bare: second, tollgate: first });
  }
  return measured;
}

export async function loadFor(server: BenchServer, load: Load, seconds = ROUND_SECONDS): Promise<Figures> {
  const before = server.used();
  const outcome = await generate({
    url: server.url + load.path,
    method: load.method ?? 'GET',
    headers: { ...load.headers, authorization: `Bearer ${server.key}` },
    body: load.body ?? '',
    connections: load.connections ?? CONNECTIONS,
    thinkMs: load.thinkMs ?? 0,
    seconds,
  });
  await sleep(SETTLE_MS);
  const after = server.used();
  return {
    ...outcome,
    cpuMicros: (after.cpuMicros - before.cpuMicros) / outcome.requests,
    databaseMicros: (after.databaseMicros - before.databaseMicros) / outcome.requests,
  };
}
