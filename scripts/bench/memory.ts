import { Agent, request } from 'undici';
import { chatLoad } from './chat.ts';
import { type Subject, startGateway } from './gateway.ts';
import { type Load, loadFor } from './load.ts';
import { type BenchServer, forkServer } from './servers.ts';
import type { Row } from './table.ts';

const FIRST_REQUESTS = 5_000;
const REQUESTS = 100_000;
const CUT_STREAMS = 1_000;
const CUT_AT_ONCE = 20;
const SETTLE_MS = 100_000;
const MIB = 1024 * 1024;

/** Whether memory stays where it was after the first requests, also when clients leave their streams. */
export async function benchMemory(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateway = await startGateway(subject, upstream.url);
  try {
    const firstRequests = await sendAtLeast(FIRST_REQUESTS, gateway, chatLoad('plain'));
    const before = await resident(gateway);
    const requests = firstRequests + (await sendAtLeast(REQUESTS - firstRequests, gateway, chatLoad('plain')));
    for (let cut = 0; cut < CUT_STREAMS; cut += CUT_AT_ONCE) {
      await Promise.all(Array.from({ length: CUT_AT_ONCE }, () => cutStream(gateway)));
    }
    const after = await resident(gateway);
    const measure = `resident MiB after ${firstRequests} and ${requests} chat requests, and ${CUT_STREAMS} streams cut`;
    const ratio = `+ ${(after - before).toFixed(1)} MiB`;
    return [{ measure, bare: before, tollgate: after, ratio, goal: '+ ≤ 20 MiB' }];
  } finally {
    await Promise.all([gateway.stop(), upstream.stop()]);
  }
}

async function sendAtLeast(requests: number, server: BenchServer, load: Load): Promise<number> {
  let sent = 0;
  while (sent < requests) sent += (await loadFor(server, load, 1)).requests;
  return sent;
}

/** After a rest, in which a program without work gives back what it can. */
async function resident(server: BenchServer): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return server.used().residentBytes / MIB;
}

/** Leaves with the first bytes. */
async function cutStream({ url, key }: BenchServer): Promise<void> {
  const { path, headers, body = '' } = chatLoad('stream');
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
