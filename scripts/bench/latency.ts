import { slowChatLoad } from './chat.ts';
import { type Subject, startGateway } from './gateway.ts';
import { loadFor, measureRounds } from './load.ts';
import { forkServer } from './servers.ts';
import { addedMsRow, type Row } from './table.ts';

const UPSTREAM_MS = 300;
/** Short, so that fewer connections are needed than a server's backlog takes at once. */
const THINK_MS = 100;
/** More than the processors serve, and as many as a server's backlog takes at once. */
const CONNECTIONS_MAX = 500;
const WARM_UP_SECONDS = 20;
const ROUNDS = 9;

/** What the gateway adds to a chat request at half of its highest load, against the bare proxy at the same rate. */
export async function benchLatency(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await startGateway(subject, upstream.url);
  try {
    // Behind this very upstream: a call that waits costs more than one that is answered at once.
    const most = { ...slowChatLoad('plain'), connections: CONNECTIONS_MAX, thinkMs: 0 };
    const { requests, seconds } = await loadFor(gateway, most, WARM_UP_SECONDS);
    const perSecond = requests / seconds / 2;
    const connections = Math.round((perSecond * (UPSTREAM_MS + THINK_MS)) / 1000);
    const rounds = await measureRounds(
      bare,
      gateway,
      { ...slowChatLoad('plain'), connections, thinkMs: THINK_MS },
      ROUNDS,
    );
    const what = `chat, upstream of 300 ms, ${Math.round(perSecond)} requests per second, half of the most: latency`;
    return [
      addedMsRow(
        { measure: `${what} p50, ms`, goal: '+ < 1.5 ms' },
        rounds.map((round) => [round.bare.p50Ms, round.tollgate.p50Ms]),
      ),
      addedMsRow(
        { measure: `${what} p99, ms`, goal: '+ < 8 ms' },
        rounds.map((round) => [round.bare.p99Ms, round.tollgate.p99Ms]),
      ),
    ];
  } finally {
    await Promise.all([gateway.stop(), bare.stop(), upstream.stop()]);
  }
}
