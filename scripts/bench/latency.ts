import { Callers } from './callers.ts';
import { chatLoad } from './chat.ts';
import { type BenchServer, forkServer } from './child.ts';
import { type Load, loadOnce } from './load.ts';
import { disturbedRow, type Quiet, quietly } from './quietly.ts';
import { addedMs, type Row } from './table.ts';

/** Before that a server compiles so much while it serves that one request in a hundred waits for it. */
const WARM_UP_REQUESTS = 50_000;
const ROUNDS = 12;
const ROUND_MS = 2_000;
const CONNECTIONS = 64;
/** Until then a server that has just been idle wakes up. */
const WAKING_MS = 500;
/** Who has no more unanswered than comes in this time keeps up. */
const BEHIND_MS_MAX = 50;
/** For so many in a row: a machine whose host lends it processors for a moment keeps up with anything for one. */
const ROUNDS_KEPT_UP = 4;
const SLOWER = 0.9;

interface Latency {
  readonly p50: number;
  readonly p99: number;
}

interface Paced extends Latency {
  readonly keepsUp: boolean;
}

type Who = 'bare' | 'durable' | 'gateway';
type Round = Readonly<Record<Who, Latency>>;

/**
 * What the gateway adds to a chat request at half of its highest load, against a bare proxy at the same rate. Beside it
 * what a proxy adds that only writes down, durably, that there is a call and then that it has ended: what the machine
 * takes for that much safety alone.
 */
export async function benchLatency(): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const durable = await forkServer('./durable-proxy.ts', [upstream.url]);
  const gateway = await forkServer('./gateway-server.ts', [upstream.url]);
  const servers = { bare, durable, gateway };
  const load = chatLoad(false);
  try {
    for (const server of Object.values(servers)) await loadOnce(server, load, { amount: WARM_UP_REQUESTS });
    const perSecond = (await mostOf(gateway, load)) / 2;
    const quiet: Quiet<Round>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      quiet.push(await quietly(() => roundOf(servers, load, perSecond, round % 2 === 1)));
    }
    const rounds = quiet.map(({ figures }) => figures);
    const at = `chat at ${Math.round(perSecond)} requests per second, half of the most at this pace: latency`;
    return [
      row(rounds, 'gateway', 'p50', { measure: `${at} p50, ms`, goal: '+ < 1 ms' }),
      row(rounds, 'gateway', 'p99', { measure: `${at} p99, ms`, goal: '+ < 5 ms' }),
      row(rounds, 'durable', 'p50', { measure: `a proxy with two durable rows, ${at} p50, ms`, goal: '' }),
      row(rounds, 'durable', 'p99', { measure: `a proxy with two durable rows, ${at} p99, ms`, goal: '' }),
      disturbedRow('latency of chat', quiet),
    ];
  } finally {
    await Promise.all([gateway.stop(), durable.stop(), bare.stop(), upstream.stop()]);
  }
}

/** All of them, one after the other. Who comes after whom makes a difference, so every other round goes backwards. */
async function roundOf(
  servers: Readonly<Record<Who, BenchServer>>,
  load: Load,
  perSecond: number,
  isBackwards: boolean,
): Promise<Round> {
  const round: Partial<Record<Who, Latency>> = {};
  const order: readonly Who[] = ['bare', 'durable', 'gateway'];
  for (const who of isBackwards ? order.toReversed() : order) round[who] = await paced(servers[who], load, perSecond);
  return round as Round;
}

function row(
  rounds: readonly Round[],
  who: 'gateway' | 'durable',
  figure: keyof Latency,
  told: Pick<Row, 'measure' | 'goal'>,
): Row {
  return { ...told, ...addedMs(rounds.map((round) => [round.bare[figure], round[who][figure]])) };
}

/**
 * The highest even rate that the server keeps up with. Callers who wait for each other's answers come in bursts, which are
 * cheaper to serve: the rate that they reach says nothing about this one.
 */
async function mostOf(server: BenchServer, load: Load): Promise<number> {
  let perSecond = (await quietly(() => loadOnce(server, load))).figures.requestsPerSecond;
  while (!(await keepsUp(server, load, perSecond))) perSecond *= SLOWER;
  return perSecond;
}

async function keepsUp(server: BenchServer, load: Load, perSecond: number): Promise<boolean> {
  for (let round = 0; round < ROUNDS_KEPT_UP; round++) {
    if (!(await quietly(() => paced(server, load, perSecond))).figures.keepsUp) return false;
  }
  return true;
}

/** Sends at an even rate, whether or not answers come. */
async function paced(server: BenchServer, load: Load, perSecond: number): Promise<Paced> {
  const callers = new Callers(server, load);
  await callers.open(CONNECTIONS);
  const latencies: number[] = [];
  const allAnswered = Promise.withResolvers<void>();
  let sent = 0;
  let answered = 0;
  let unansweredAtEnd: number | undefined;
  const startMs = performance.now();
  const send = (sentMs: number) => {
    sent += 1;
    callers.send(() => {
      answered += 1;
      if (sentMs >= startMs + WAKING_MS) latencies.push(performance.now() - sentMs);
      if (unansweredAtEnd !== undefined && answered === sent) allAnswered.resolve();
    });
  };
  const tick = () => {
    const nowMs = performance.now();
    while (startMs + (sent * 1000) / perSecond <= nowMs) send(nowMs);
    if (nowMs < startMs + ROUND_MS) return void setTimeout(tick, 1);
    unansweredAtEnd = sent - answered;
    if (unansweredAtEnd === 0) allAnswered.resolve();
  };
  tick();
  await allAnswered.promise;
  callers.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  const keepsUp = (unansweredAtEnd ?? 0) <= (perSecond * BEHIND_MS_MAX) / 1000;
  return { p50: at(0.5), p99: at(0.99), keepsUp };
}
