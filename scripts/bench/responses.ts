import { chatLoad } from './chat.ts';
import { type Subject, startGateway } from './gateway.ts';
import { type Load, measureRounds } from './load.ts';
import { forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

const ROUNDS = 3;
const GOAL = '≤ 1.2';

/** Processor time of the responses format against chat with the same text, through the same gateway and upstream. */
export async function benchResponses(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateway = await startGateway(subject, upstream.url);
  try {
    const rows: Row[] = [];
    for (const [shape, what] of [
      ['plain', 'responses against chat'],
      ['stream', 'responses against chat, streams of 50 frames'],
    ] as const) {
      for (const store of [true, false]) {
        const rounds = await measureRounds(gateway, gateway, responsesLoad(shape, store), ROUNDS, chatLoad(shape));
        const measure = `${what}${store ? '' : ', nothing kept'}: processor µs per request`;
        const pairs = rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros] as const);
        rows.push(ratioRow({ measure, goal: GOAL }, pairs));
      }
    }
    return rows;
  } finally {
    await Promise.all([gateway.stop(), upstream.stop()]);
  }
}

function responsesLoad(shape: 'plain' | 'stream', store: boolean): Load {
  const body = {
    model: 'bench/chat',
    instructions: 'You are brief.',
    input: 'Say fifty words about toll gates, please.',
    stream: shape === 'stream',
    temperature: 0.7,
    max_output_tokens: 100,
    store,
  };
  return { ...chatLoad(shape), path: '/v1/responses', body: JSON.stringify(body) };
}
