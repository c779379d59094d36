import { type Subject, startGateway } from './gateway.ts';
import { measureRounds } from './load.ts';
import type { BenchServer } from './servers.ts';
import { cpuAndRateRows, type Row } from './table.ts';

/** `GET /v1/credits` against `GET /v1/key`, which reads as much without any sum. */
export async function benchCredits(subject: Subject): Promise<Row[]> {
  const gateway = await startGateway(subject);
  const at = (path: string): BenchServer => ({ ...gateway, url: gateway.url + path });
  try {
    const rounds = await measureRounds(at('/v1/key'), at('/v1/credits'), { path: '' });
    return cpuAndRateRows('GET /v1/credits against GET /v1/key', { cpu: '≤ 1.5', rate: '≥ 0.67' }, rounds);
  } finally {
    await gateway.stop();
  }
}
