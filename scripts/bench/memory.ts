import { Agent, request } from 'undici';
import { chatLoad } from './chat.ts';
import { type BenchServer, forkServer } from './child.ts';
import { loadOnce } from './load.ts';
import type { Row } from './table.ts';

const FIRST_REQUESTS = 5_000;
const REQUESTS = 100_000;
const CUT_STREAMS = 1_000;
const CUT_AT_ONCE = 20;
const SETTLE_MS = 100_000;
const MIB = 1024 * 1024;

/** Whether memory stays where it was after the first requests, also when clients leave their streams. */
export async function benchMemory(): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateway = await forkServer('./gateway-server.ts', [upstream.url]);
  try {
    await loadOnce(gateway, chatLoad(false), { amount: FIRST_REQUESTS });
    const before = await resident(gateway);
    await loadOnce(gateway, chatLoad(false), { amount: REQUESTS - FIRST_REQUESTS });
    for (let cut = 0; cut < CUT_STREAMS; cut += CUT_AT_ONCE) {
      await Promise.all(Array.from({ length: CUT_AT_ONCE }, () => cutStream(gateway)));
    }
    const after = await resident(gateway);
    const measure = `resident MiB after ${FIRST_REQUESTS} and ${REQUESTS} chat requests, and ${CUT_STREAMS} streams cut`;
    const ratio = `+ ${(after - before).toFixed(1)} MiB`;
    return [{ measure, bare: before, tollgate: after, ratio, goal: '+ ≤ 20 MiB' }];
  } finally {
    await Promise.all([gateway.stop(), upstream.stop()]);
  }
}

/** After a rest, in which a program without work gives back what it can. */
async function resident(server: BenchServer): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return (await server.used()).residentBytes / MIB;
}

/** Leaves with the first bytes. */
async function cutStream({ url, key }: BenchServer): Promise<void> {
  const { path, headers, body = '' } = chatLoad(true);
  const dispatcher = new Agent();
  const answer = await request(url + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}` },
    body,
    dispatcher,
  });
  for await (const _piece of answer.body) break;
  await dispatcher.destroy();
}
