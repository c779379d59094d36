import { forkServer } from './child.ts';
import { type Load, measureInTurn } from './load.ts';
import type { Row } from './table.ts';

/** Chat through the whole gateway against a bare proxy with the same framework, client and upstream. */
export async function benchChat(): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const bare = await forkServer('./bare-proxy.ts', [upstream.url]);
  const gateway = await forkServer('./gateway-server.ts', [upstream.url]);
  const compare = async (name: string, stream: boolean, goal: string): Promise<Row> => {
    const [yardstick, measured] = await measureInTurn([bare, gateway], chatLoad(stream));
    if (yardstick === undefined || measured === undefined) throw new Error('nothing was measured');
    const ratio = measured.cpuMicros / yardstick.cpuMicros;
    return { measure: name, bare: yardstick.cpuMicros, tollgate: measured.cpuMicros, ratio, goal };
  };
  const compareCredentials = async (): Promise<Row> => {
    const load = chatLoad(false);
    const [byKey, byToken] = await measureInTurn([gateway, { ...gateway, key: gateway.token }], load);
    if (byKey === undefined || byToken === undefined) throw new Error('nothing was measured');
    const ratio = byToken.cpuMicros / byKey.cpuMicros;
    const measure = 'chat with an app’s token against chat with a key, processor µs per request';
    return { measure, bare: byKey.cpuMicros, tollgate: byToken.cpuMicros, ratio, goal: '≤ 1.1' };
  };
  try {
    return [
      await compare('chat, processor µs per request', false, '≤ 2.0'),
      await compare('chat stream of 50 frames, processor µs per request', true, '≤ 1.5'),
      await compareCredentials(),
    ];
  } finally {
    await Promise.all([gateway.stop(), bare.stop(), upstream.stop()]);
  }
}

/** Enough to keep a server busy that waits for its database. */
const CONNECTIONS = 64;

export function chatLoad(stream: boolean): Load {
  const messages = [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'Say fifty words about toll gates, please.' },
  ];
  return {
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    connections: CONNECTIONS,
    body: JSON.stringify({ model: 'bench/chat', messages, stream, temperature: 0.7, max_tokens: 100 }),
  };
}
