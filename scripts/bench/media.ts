import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import { keptSecret } from '../../src/data-folder.ts';
import { FolderStore } from '../../src/storage/index.ts';
import { type Gateway, type Subject, startGateway } from './gateway.ts';
import type { Outcome } from './generator.ts';
import { measureRounds } from './load.ts';
import { type BenchServer, forkServer } from './servers.ts';
import { type Row, ratioRow } from './table.ts';

const MIB = 1024 * 1024;
const SIZES = [
  { name: '1 MiB', key: 'large', bytes: MIB },
  { name: '100 KiB', key: 'small', bytes: 100 * 1024 },
] as const;

/** Signed links of the folder store against a bare file server, and the memory that large objects take on their way in. */
export async function benchMedia(subject: Subject): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const bareFolder = join(folder, 'bare');
  await mkdir(bareFolder);
  for (const { key, bytes } of SIZES) await writeFile(join(bareFolder, key), Buffer.alloc(bytes, key));
  const bare = await forkServer('./bare-files.ts', [bareFolder]);
  const gateway = await startGateway(subject);
  try {
    const rows: Row[] = [];
    for (const size of SIZES) rows.push(...(await compareSize(bare, gateway, size)));
    return [...rows, await memoryOfPuts(join(folder, 'puts'))];
  } finally {
    await Promise.all([gateway.stop(), bare.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function compareSize(
  bare: BenchServer,
  gateway: Gateway,
  { name, key, bytes }: (typeof SIZES)[number],
): Promise<Row[]> {
  const path = await linkTo(key, bytes, gateway.folder);
  const rounds = await measureRounds(bare, gateway, { path });
  const rate = { measure: `media of ${name}, MB per second`, goal: '≥ 0.5' };
  const cpu = { measure: `media of ${name}, processor µs per request`, goal: '' };
  const mbps = (figures: Outcome) => (figures.requests * bytes) / 1e6 / figures.seconds;
  return [
    ratioRow(
      rate,
      rounds.map(({ bare: yardstick, tollgate }) => [mbps(yardstick), mbps(tollgate)]),
    ),
    ratioRow(
      cpu,
      rounds.map(({ bare: yardstick, tollgate }) => [yardstick.cpuMicros, tollgate.cpuMicros]),
    ),
  ];
}

/** Puts it into the gateway's own store, with the gateway's own secret. */
async function linkTo(key: string, bytes: number, folder: string): Promise<string> {
  const rootSecret = keptSecret(folder, 'secret');
  const store = await FolderStore.open({ folder: join(folder, 'objects'), publicUrl: '', rootSecret });
  await store.put(key, Buffer.alloc(bytes, key), { mimeType: 'video/mp4', bytesMax: bytes });
  const now = systemClock.now();
  const expiresAt = new Date(now.getTime() + 3_600_000);
  return store.link(key, { mimeType: 'video/mp4', fileName: `${key}.mp4`, expiresAt, now });
}

async function memoryOfPuts(folder: string): Promise<Row> {
  const script = fileURLToPath(new URL('./parallel-puts.ts', import.meta.url));
  const child = fork(script, [folder], { execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ beforeMib, peakMib }] = await once(child, 'message');
  const measure = 'ten puts of 100 MiB at once, resident MiB before and at most';
  return { measure, bare: beforeMib, tollgate: peakMib, ratio: peakMib / beforeMib, goal: '≤ 200 MiB more' };
}
