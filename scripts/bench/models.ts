import { request } from 'undici';
import { type Subject, startGateway } from './gateway.ts';
import { measureRounds } from './load.ts';
import { forkServer } from './servers.ts';
import { cpuAndRateRows, type Row } from './table.ts';

/** `GET /v1/models` with key, limits and log, against a bare server that sends the same bytes. */
export async function benchModels(subject: Subject): Promise<Row[]> {
  const gateway = await startGateway(subject);
  const path = '/v1/models';
  const { headers, body } = await request(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } });
  const sent = ['content-type', 'vary', 'x-request-id', 'content-length'].map((name) => [name, headers[name]]);
  const bare = await forkServer('./bare-server.ts', [JSON.stringify(Object.fromEntries(sent)), await body.text()]);
  try {
    return cpuAndRateRows('GET /v1/models', { cpu: '≤ 2.0' }, await measureRounds(bare, gateway, { path }));
  } finally {
    await Promise.all([gateway.stop(), bare.stop()]);
  }
}
