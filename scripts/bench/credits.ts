import { type BenchServer, forkServer } from './child.ts';
import { measureInTurn } from './load.ts';
import type { Row } from './table.ts';

/** `GET /v1/credits` against `GET /v1/key`, which reads as much without any sum. */
export async function benchCredits(): Promise<Row[]> {
  const gateway = await forkServer('./gateway-server.ts');
  const at = (path: string): BenchServer => ({ ...gateway, url: gateway.url + path });
  try {
    const [key, credits] = await measureInTurn([at('/v1/key'), at('/v1/credits')], { path: '', headers: {} });
    if (key === undefined || credits === undefined) throw new Error('nothing was measured');
    return [
      {
        measure: 'GET /v1/credits against GET /v1/key, processor µs per request',
        bare: key.cpuMicros,
        tollgate: credits.cpuMicros,
        ratio: credits.cpuMicros / key.cpuMicros,
        goal: '≤ 1.5',
      },
      {
        measure: 'GET /v1/credits against GET /v1/key, µs between answers',
        bare: 1e6 / key.requestsPerSecond,
        tollgate: 1e6 / credits.requestsPerSecond,
        ratio: key.requestsPerSecond / credits.requestsPerSecond,
        goal: '≤ 1.5',
      },
    ];
  } finally {
    await gateway.stop();
  }
}
