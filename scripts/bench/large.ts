import { Agent, request } from 'undici';
import { type BenchServer, forkServer } from './child.ts';
import type { Row } from './table.ts';

const MIB = 1024 * 1024;
const BODY_MIB = 30;
const AT_ONCE = 10;
const OTHERS_EVERY_MS = 5;

/** Native bodies near their cap: what one costs in memory, and what ten at once cost everybody else. */
export async function benchLarge(): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const gateway = await forkServer('./gateway-server.ts', [upstream.url]);
  const sender = await forkServer('./large-sender.ts', [gateway.url, gateway.key, String(BODY_MIB)]);
  // As many connections as are needed: nobody is to wait for another's.
  const agent = new Agent();
  try {
    for (let place = 0; place < 200; place++) await askOther(gateway, agent);
    const before = (await gateway.used()).peakBytes / MIB;
    await sendLarge(sender, 1, agent);
    const peak = (await gateway.used()).peakBytes / MIB;
    const alone = await othersDuring(gateway, agent, new Promise((resolve) => setTimeout(resolve, 2_000)));
    const meanwhile = await othersDuring(gateway, agent, sendLarge(sender, AT_ONCE, agent));
    return [
      {
        measure: `peak resident MiB before and after one native body of ${BODY_MIB} MiB`,
        bare: before,
        tollgate: peak,
        ratio: `+ ${(peak - before).toFixed(0)} MiB`,
        goal: `+ ≤ ${5 * BODY_MIB} MiB`,
      },
      {
        measure: `GET /v1/models alone and beside ${AT_ONCE} such bodies at once: latency p99, ms`,
        bare: alone,
        tollgate: meanwhile,
        ratio: `${meanwhile.toFixed(0)} ms`,
        goal: '≤ 250 ms',
      },
    ];
  } finally {
    await agent.destroy();
    await Promise.all([sender.stop(), gateway.stop(), upstream.stop()]);
  }
}

async function sendLarge(sender: BenchServer, count: number, dispatcher: Agent): Promise<void> {
  const { statusCode, body } = await request(`${sender.url}/${count}`, { method: 'POST', dispatcher });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
}

/** Small requests at an even rate until the work is done: the 99th of a hundred, by latency. */
async function othersDuring(server: BenchServer, dispatcher: Agent, work: Promise<unknown>): Promise<number> {
  const latencies: number[] = [];
  const sent: Promise<unknown>[] = [];
  const ask = async () => {
    const startMs = performance.now();
    await askOther(server, dispatcher);
    latencies.push(performance.now() - startMs);
  };
  const timer = setInterval(() => sent.push(ask()), OTHERS_EVERY_MS);
  await work.finally(() => clearInterval(timer));
  await Promise.all(sent);
  latencies.sort((a, b) => a - b);
  return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
}

async function askOther({ url, key }: BenchServer, dispatcher: Agent): Promise<void> {
  const { statusCode, body } = await request(`${url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
    dispatcher,
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a small request was answered ${statusCode}`);
}
