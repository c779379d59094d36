import { setTimeout } from 'node:timers/promises';
import { Agent } from 'undici';
import { type Subject, startGateway } from './gateway.ts';
import { type BenchServer, forkServer } from './servers.ts';
import { msUnderWay, PIECE_EVERY_MS, PIECES } from './speech-pieces.ts';
import { addedMsRow, type Row } from './table.ts';

const STREAMS = 50;
const BEGUN_EVERY_MS = (PIECES * PIECE_EVERY_MS) / STREAMS;
const WARM_UP_MS = 4_000;
const ROUNDS = 5;
const ROUND_MS = 5_000;
/** By then all streams are open and none needs a new connection. */
const OPENING_STREAMS = 2 * STREAMS;

interface Delays {
  readonly p50: number;
  readonly p99: number;
}

interface Round {
  readonly bare: Delays;
  readonly gateway: Delays;
}

/** How long the first byte of speech takes from the upstream to the caller, against a bare proxy in the same run. */
export async function benchSpeech(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await startGateway(subject, upstream.url);
  try {
    for (const server of [bare, gateway]) await listen(server, WARM_UP_MS);
    const rounds: Round[] = [];
    while (rounds.length < ROUNDS) {
      rounds.push({ bare: await listen(bare, ROUND_MS), gateway: await listen(gateway, ROUND_MS) });
    }
    return [delayRow(rounds, 'p50', ''), delayRow(rounds, 'p99', '≤ 5 ms')];
  } finally {
    await Promise.all([gateway.stop(), bare.stop(), upstream.stop()]);
  }
}

function delayRow(rounds: readonly Round[], figure: keyof Delays, goal: string): Row {
  const measure = `${STREAMS} streams of speech: first byte behind the upstream’s ${figure}, ms`;
  return addedMsRow(
    { measure, goal },
    rounds.map((round) => [round.bare[figure], round.gateway[figure]]),
  );
}

/** One stream after the other at an even pace, so that so many are open at a time and never two begin together. */
async function listen(server: BenchServer, forMs: number): Promise<Delays> {
  const agent = new Agent({ connections: 4 * STREAMS });
  const heard: Promise<number>[] = [];
  const startMs = performance.now();
  while (performance.now() < startMs + forMs) {
    heard.push(hear(server, agent));
    await setTimeout(Math.max(0, startMs + heard.length * BEGUN_EVERY_MS - performance.now()));
  }
  const delays = (await Promise.all(heard)).slice(OPENING_STREAMS).sort((a, b) => a - b);
  await agent.close();
  const at = (share: number) => delays[Math.floor(delays.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** On the client's lowest level: a listener that is busy itself would only hear how busy it is. */
function hear({ url, key }: BenchServer, dispatcher: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    let first: number | undefined;
    const options = {
      origin: url,
      path: '/v1/audio/speech',
      method: 'POST' as const,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'bench/speech', input: 'A toll gate by the sea.', response_format: 'wav' }),
    };
    dispatcher.dispatch(options, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status) => {
        if (status !== 200) reject(new Error(`status ${status} during the measurement`));
      },
      onResponseData: (_controller, piece) => {
        first ??= msUnderWay(piece);
      },
      onResponseEnd: () => (first === undefined ? reject(new Error('nothing was heard')) : resolve(first)),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
