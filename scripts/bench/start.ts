import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type Subject } from './gateway.ts';
import { median, type Row } from './table.ts';

const STARTS = 5;
/** A minute of rest and some more: then a gateway without work has given back what it can. */
const REST_MS = 75_000;
const MIB = 1024 * 1024;
const ALONE = { bare: undefined, ratio: '' };
/** No upstream, and so none of the sandbox's models. */
const CONFIGURATION = 'upstreams: []\nmodels: []\n';

/** How long a start takes where everything is installed and the database exists, and what a gateway without work has. */
export async function benchStart(subject: Subject): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const file = join(folder, 'bench.yaml');
  await writeFile(file, CONFIGURATION);
  const configuration = { TOLLGATE_CONFIG: file };
  try {
    // Makes the database and compiles the modules.
    const first = await launch(subject, folder, configuration);
    await first.stop();
    const durationsMs: number[] = [];
    for (let start = 1; start <= STARTS; start += 1) {
      const beganMs = performance.now();
      const gateway = await launch(subject, folder, configuration);
      durationsMs.push(performance.now() - beganMs);
      await gateway.stop();
    }
    const gateway = await launch(subject, folder, configuration);
    await sleep(REST_MS);
    const restingMib = gateway.used().residentBytes / MIB;
    await gateway.stop();
    return [
      { measure: 'warm start, ms', ...ALONE, tollgate: median(durationsMs), goal: '≤ 1500' },
      { measure: 'resting memory without the sandbox, MiB', ...ALONE, tollgate: restingMib, goal: '≤ 150' },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
