import { chatLoad } from './chat.ts';
import { type Subject, startGateway } from './gateway.ts';
import { type Load, measureRounds, type Round } from './load.ts';
import { forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

const CONNECTIONS = 64;
const BATCH = 2_048;
const BATCH_CONNECTIONS = 2;

/** Processor time of a vector against that of a chat through the same gateway, and of a large batch against the bare proxy. */
export async function benchEmbeddings(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await startGateway(subject, upstream.url);
  const againstChat = async (what: string, load: Load, goal: string) =>
    cpuRow(
      `a vector of 1536 numbers as ${what} against a chat: processor µs per request`,
      goal,
      await measureRounds(gateway, gateway, load, undefined, chatLoad('plain')),
    );
  try {
    return [
      await againstChat('base64', embeddingLoad('base64', 1), '≤ 1.2'),
      await againstChat('digits', embeddingLoad('float', 1), ''),
      cpuRow(
        `${BATCH} vectors as base64: processor µs per request`,
        '',
        await measureRounds(bare, gateway, embeddingLoad('base64', BATCH), 3),
      ),
    ];
  } finally {
    await Promise.all([gateway.stop(), bare.stop(), upstream.stop()]);
  }
}

function embeddingLoad(encoding_format: string, count: number): Load {
  const input = Array.from({ length: count }, (_, at) => `Toll gate ${at} by the sea, please.`);
  return {
    path: '/v1/embeddings',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench/embedding', input, encoding_format }),
    connections: count === 1 ? CONNECTIONS : BATCH_CONNECTIONS,
  };
}

function cpuRow(measure: string, goal: string, rounds: readonly Round[]): Row {
  return ratioRow(
    { measure, goal },
    rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros]),
  );
}
