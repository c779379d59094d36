import { request } from 'undici';
import { forkServer } from './child.ts';
import { measureInTurn } from './load.ts';
import type { Row } from './table.ts';

/** `GET /v1/models` with key, limits and log, against a bare server that sends the same bytes. */
export async function benchModels(): Promise<Row[]> {
  const gateway = await forkServer('./gateway-server.ts');
  const path = '/v1/models';
  const { headers, body } = await request(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}` } });
  const sent = ['content-type', 'vary', 'x-request-id', 'content-length'].map((name) => [name, headers[name]]);
  const bare = await forkServer('./bare-server.ts', [JSON.stringify(Object.fromEntries(sent)), await body.text()]);
  try {
    const [yardstick, measured] = await measureInTurn([bare, gateway], { path, headers: {} });
    if (yardstick === undefined || measured === undefined) throw new Error('nothing was measured');
    return [
      {
        measure: 'GET /v1/models, processor µs per request',
        bare: yardstick.cpuMicros,
        tollgate: measured.cpuMicros,
        ratio: measured.cpuMicros / yardstick.cpuMicros,
        goal: '≤ 2.0',
      },
      {
        measure: 'GET /v1/models, requests per second',
        bare: yardstick.requestsPerSecond,
        tollgate: measured.requestsPerSecond,
        ratio: measured.requestsPerSecond / yardstick.requestsPerSecond,
        goal: '',
      },
    ];
  } finally {
    await Promise.all([gateway.stop(), bare.stop()]);
  }
}
