import { Agent, request } from 'undici';
import { type Subject, startGateway } from './gateway.ts';
import { type BenchServer, forkServer } from './servers.ts';
import type { Row } from './table.ts';

const MIB = 1024 * 1024;
const MEDIA_MIB = 30;
const AT_ONCE = 10;
const ASK_EVERY_MS = 5;
const PROBE_EVERY_MS = 2;
/** Bodies that are costly to look at, as the sender names them, each sent three at once. */
const COSTLY = ['members', 'words', 'unbroken text'];
const COSTLY_AT_ONCE = 3;

/** Bodies near their cap: what one costs in memory, and how long others wait for the event loop meanwhile. */
export async function benchLarge(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateway = await startGateway(subject, upstream.url);
  const sender = await forkServer('./large-sender.ts', [gateway.url, gateway.key, String(MEDIA_MIB)]);
  // As many connections as are needed: no request waits for another's.
  const agent = new Agent();
  const ask = (path: string) => get(gateway, path, agent);
  const send = (name: string, times: number) => sendLarge(sender, name, times, agent);
  try {
    for (let place = 0; place < 200; place++) await ask('/v1/models');
    const before = gateway.used().peakBytes / MIB;
    await send('media', 1);
    const peak = gateway.used().peakBytes / MIB;
    const askModels = () => ask('/v1/models');
    const idle = new Promise((resolve) => setTimeout(resolve, 2_000));
    const alone = quantile(await latenciesDuring(idle, askModels, ASK_EVERY_MS), 0.99);
    const meanwhile = quantile(await latenciesDuring(send('media', AT_ONCE), askModels, ASK_EVERY_MS), 0.99);
    return [
      {
        measure: `peak resident MiB before and after one native body of ${MEDIA_MIB} MiB`,
        bare: before,
        tollgate: peak,
        ratio: `+ ${(peak - before).toFixed(0)} MiB`,
        goal: `+ ≤ ${5 * MEDIA_MIB} MiB`,
      },
      {
        measure: `GET /v1/models alone and beside ${AT_ONCE} such bodies at once: latency p99, ms`,
        bare: alone,
        tollgate: meanwhile,
        ratio: `${meanwhile.toFixed(0)} ms`,
        goal: '≤ 250 ms',
      },
      ...(await probeBeside(send, () => ask('/healthz'))),
    ];
  } finally {
    await agent.destroy();
    await Promise.all([sender.stop(), gateway.stop(), upstream.stop()]);
  }
}

/** The longest that a probe waits: what a load balancer sees of an event loop that is held up. */
async function probeBeside(
  send: (name: string, times: number) => Promise<void>,
  probe: () => Promise<void>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of COSTLY) {
    const idle = new Promise((resolve) => setTimeout(resolve, 1_000));
    const alone = quantile(await latenciesDuring(idle, probe, PROBE_EVERY_MS), 1);
    const beside = quantile(await latenciesDuring(send(name, COSTLY_AT_ONCE), probe, PROBE_EVERY_MS), 1);
    rows.push({
      measure: `GET /healthz alone and beside ${COSTLY_AT_ONCE} bodies of ${name}: longest, ms`,
      bare: alone,
      tollgate: beside,
      ratio: `${beside.toFixed(0)} ms`,
      goal: '≤ 50 ms',
    });
  }
  return rows;
}

async function sendLarge(sender: BenchServer, name: string, times: number, dispatcher: Agent): Promise<void> {
  const path = `/${encodeURIComponent(name)}?times=${times}`;
  const { statusCode, body } = await request(sender.url + path, { method: 'POST', dispatcher });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
}

/** Small requests at an even rate until the work is done: how long each took, the shortest first. */
async function latenciesDuring(work: Promise<unknown>, ask: () => Promise<void>, everyMs: number): Promise<number[]> {
  const latencies: number[] = [];
  const sent: Promise<unknown>[] = [];
  const timed = async () => {
    const startMs = performance.now();
    await ask();
    latencies.push(performance.now() - startMs);
  };
  const timer = setInterval(() => sent.push(timed()), everyMs);
  await work.finally(() => clearInterval(timer));
  await Promise.all(sent);
  return latencies.sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

async function get({ url, key }: BenchServer, path: string, dispatcher: Agent): Promise<void> {
  const { statusCode, body } = await request(url + path, { headers: { authorization: `Bearer ${key}` }, dispatcher });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a small request was answered ${statusCode}`);
}
