import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { chatLoad } from './chat.ts';
import { freePort, type Gateway, type Subject, startGateway } from './gateway.ts';
import { measureRounds, type Round } from './load.ts';
import { type BenchServer, forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

const ROUNDS = 3;
const SCRAPES = 200;

/** What it costs a chat to be seen from outside: the yardstick is the same gateway with everything off. */
export async function benchSignals(subject: Subject): Promise<Row[]> {
  const upstream = await forkServer('./fake-upstream.ts');
  const receiver = await startReceiver();
  const metricsPort = await freePort();
  const traces = (ratio: string) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: ratio,
  });
  const rows: Row[] = [];
  const compare = async (
    what: string,
    goal: string,
    settings: Record<string, string>,
    more?: (on: Gateway) => Promise<Row>,
  ) => {
    // Both begin anew: what has served longer is compiled better.
    const off = await startGateway(subject, upstream.url);
    const on = await startGateway({ ...subject, settings }, upstream.url);
    try {
      rows.push(
        cpuRow(
          `chat with ${what}: processor µs per request`,
          goal,
          await measureRounds(off, on, chatLoad('plain'), ROUNDS),
        ),
      );
      if (more !== undefined) rows.push(await more(on));
    } finally {
      await Promise.all([off.stop(), on.stop()]);
    }
  };
  try {
    await compare('metrics', '≤ 1.03', { TOLLGATE_METRICS_PORT: String(metricsPort) }, (on) =>
      scrapeRow(on, `http://127.0.0.1:${metricsPort}/metrics`),
    );
    await compare('1 % of traces', '≤ 1.03', traces('0.01'));
    await compare('all traces', '', traces('1'));
    return rows;
  } finally {
    await upstream.stop();
    receiver.close();
  }
}

function cpuRow(measure: string, goal: string, rounds: readonly Round[]): Row {
  return ratioRow(
    { measure, goal },
    rounds.map(({ bare, tollgate }) => [bare.cpuMicros, tollgate.cpuMicros]),
  );
}

async function scrapeRow(gateway: BenchServer, url: string): Promise<Row> {
  const before = gateway.used();
  let bytes = 0;
  for (let scrape = 0; scrape < SCRAPES; scrape++) bytes = (await (await request(url)).body.bytes()).length;
  const micros = (gateway.used().cpuMicros - before.cpuMicros) / SCRAPES;
  const compared = `${(bytes / 1024).toFixed(0)} KiB`;
  return { measure: 'one scrape: processor µs', bare: undefined, tollgate: micros, ratio: compared, goal: '' };
}

/** Takes whatever it is sent. */
async function startReceiver(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.end('{}'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
