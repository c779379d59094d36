import { chatLoad } from './chat.ts';
import { type Gateway, type Subject, startGateway } from './gateway.ts';
import { type Figures, loadFor } from './load.ts';
import { forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

const COUNTS = [1, 2, 4] as const;
const ROUNDS = 5;
const CONNECTIONS_PER_PROCESS = 64;
const WARM_UP_SECONDS = 10;
/** Of processor time per request with so many processes, against one: 1.8 times the throughput from two, at most 15 % more at four. */
const GOALS: Readonly<Record<number, string>> = { 2: '≤ 1.11', 4: '≤ 1.15' };

/** What a chat request costs when several processes share one port and one database, against one process. */
export async function benchProcesses(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateways: Gateway[] = [];
  try {
    for (const processes of COUNTS) gateways.push(await startGateway({ ...subject, processes }, upstream.url));
    // The same for each process: batches are as large as its requests in hand, and its code is as warm as they were many.
    const loads = COUNTS.map((processes) => ({
      ...chatLoad('plain'),
      connections: CONNECTIONS_PER_PROCESS * processes,
    }));
    const loadAt = (place: number, seconds?: number) => {
      const [gateway, load] = [gateways[place], loads[place]];
      if (gateway === undefined || load === undefined) throw new Error('a gateway is missing');
      return loadFor(gateway, load, seconds);
    };
    for (const [place, processes] of COUNTS.entries()) await loadAt(place, WARM_UP_SECONDS * processes);
    const rounds: Figures[][] = [];
    while (rounds.length < ROUNDS) {
      const round: Figures[] = [];
      for (const place of COUNTS.keys()) round.push(await loadAt(place));
      rounds.push(round);
    }
    return COUNTS.flatMap((processes, place) => rowsOf(processes, place, rounds));
  } finally {
    await Promise.all([...gateways, upstream].map((server) => server.stop()));
  }
}

/** The yardstick is one process in the same round. */
function rowsOf(processes: number, place: number, rounds: readonly (readonly Figures[])[]): Row[] {
  const what = `chat, ${processes} processes against one:`;
  const row = (measure: string, goal: string, figure: (figures: Figures) => number) =>
    ratioRow(
      { measure: `${what} ${measure}`, goal },
      rounds.map((round) => [pick(round, 0, figure), pick(round, place, figure)] as const),
    );
  return [
    row('processor µs per request', GOALS[processes] ?? '', ({ cpuMicros }) => cpuMicros),
    row('the same with the database', '', ({ cpuMicros, databaseMicros }) => cpuMicros + databaseMicros),
    row('requests per second', '', ({ requests, seconds }) => requests / seconds),
    row('latency p99, ms', '', ({ p99Ms }) => p99Ms),
  ];
}

function pick(round: readonly Figures[], place: number, figure: (figures: Figures) => number): number {
  const figures = round[place];
  return figures === undefined ? Number.NaN : figure(figures);
}
