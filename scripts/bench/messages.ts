import { chatLoad } from './chat.ts';
import { type Subject, startGateway } from './gateway.ts';
import { type Load, measureRounds } from './load.ts';
import { forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

const ROUNDS = 3;
const GOAL = '≤ 1.2';

/** Processor time of the Messages format against chat with the same text, through the same gateway and upstream. */
export async function benchMessages(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateway = await startGateway(subject, upstream.url);
  try {
    const rows: Row[] = [];
    for (const [shape, what] of [
      ['plain', 'messages against chat'],
      ['stream', 'messages against chat, streams of 50 frames'],
    ] as const) {
      const rounds = await measureRounds(gateway, gateway, messagesLoad(shape), ROUNDS, chatLoad(shape));
      const pairs = rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros] as const);
      rows.push(ratioRow({ measure: `${what}: processor µs per request`, goal: GOAL }, pairs));
    }
    return rows;
  } finally {
    await Promise.all([gateway.stop(), upstream.stop()]);
  }
}

function messagesLoad(shape: 'plain' | 'stream'): Load {
  const body = {
    model: 'bench/chat',
    max_tokens: 100,
    system: 'You are brief.',
    messages: [{ role: 'user', content: 'Say fifty words about toll gates, please.' }],
    stream: shape === 'stream',
    temperature: 0.7,
  };
  return { ...chatLoad(shape), path: '/v1/messages', body: JSON.stringify(body) };
}
