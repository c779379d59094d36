import { appToken } from './app-token.ts';
import { type Subject, startGateway } from './gateway.ts';
import { type Load, measureRounds, type Round } from './load.ts';
import { forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

/** Enough to keep a server busy that waits for its database. */
const CONNECTIONS = 64;
/** Behind a slow upstream: as many as give a rate that both servers keep up with, about 800 and 250 per second. */
const SLOW_CONNECTIONS = { plain: 320, stream: 100 };
/** Keeps connections behind a slow upstream from falling into step. */
const SLOW_THINK_MS = 100;

/** With the database counted. */
const GOALS = { plain: '≤ 4.0', stream: '≤ 1.8' };

/** Processor time of chat through the whole gateway, with and without its database, against the bare proxy. */
export async function benchChat(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await startGateway(subject, upstream.url);
  const compare = async (what: string, load: Load, goal: string) =>
    cpuRows(what, goal, await measureRounds(bare, gateway, load));
  try {
    return [
      ...(await compare('chat', chatLoad('plain'), GOALS.plain)),
      ...(await compare('chat stream of 50 frames', chatLoad('stream'), GOALS.stream)),
      ...(await compare('chat, upstream of 300 ms', slowChatLoad('plain'), '')),
      ...(await compare('chat stream of 50 frames, upstream of 300 ms', slowChatLoad('stream'), '')),
      tokenRow(await measureRounds(gateway, { ...gateway, key: await appToken(gateway) }, chatLoad('plain'))),
    ];
  } finally {
    await Promise.all([gateway.stop(), bare.stop(), upstream.stop()]);
  }
}

type Shape = 'plain' | 'stream';

export function chatLoad(shape: Shape): Load {
  return loadFor('bench/chat', shape, { connections: CONNECTIONS });
}

export function slowChatLoad(shape: Shape): Load {
  return loadFor('bench/slow-chat', shape, { connections: SLOW_CONNECTIONS[shape], thinkMs: SLOW_THINK_MS });
}

function loadFor(model: string, shape: Shape, pace: Pick<Load, 'connections' | 'thinkMs'>): Load {
  const messages = [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'Say fifty words about toll gates, please.' },
  ];
  return {
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream: shape === 'stream', temperature: 0.7, max_tokens: 100 }),
    ...pace,
  };
}

function cpuRows(what: string, goal: string, rounds: readonly Round[]): Row[] {
  const gateway = { measure: `${what}: processor µs per request`, goal: '' };
  const both = { measure: `${what}: the same with the database`, goal };
  return [
    ratioRow(
      gateway,
      rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros]),
    ),
    ratioRow(
      both,
      rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros + tollgate.databaseMicros]),
    ),
  ];
}

function tokenRow(rounds: readonly Round[]): Row {
  const measure = 'chat with an app’s token against chat with a key: processor µs per request';
  return ratioRow(
    { measure, goal: '≤ 1.1' },
    rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros]),
  );
}
