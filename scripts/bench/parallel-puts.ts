// Ten large objects put at once, in a process of its own: what its memory grows by is theirs.
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret } from '../../src/config.ts';
import { FolderStore } from '../../src/storage/index.ts';

const MIB = 1024 * 1024;
const PUTS = 10;
const OBJECT_BYTES = 100 * MIB;
const CHUNK_BYTES = 64 * 1024;

const [folder = ''] = process.argv.slice(2);
const store = await FolderStore.open({ folder, publicUrl: 'http://bench', rootSecret: new Secret('of the bench') });
// What the first one loads and compiles is not memory of the others.
await put('first', MIB);
globalThis.gc?.();
await sleep(100);
const before = process.memoryUsage.rss();
await Promise.all(Array.from({ length: PUTS }, (_, index) => put(`object-${index}`, OBJECT_BYTES)));
// The kernel's own figure, in KiB: the highest there ever was.
process.send?.({ beforeMib: before / MIB, peakMib: process.resourceUsage().maxRSS / 1024 });

async function put(key: string, bytes: number): Promise<void> {
  async function* body(): AsyncGenerator<Buffer> {
    // As a socket gives them: each chunk is new memory.
    for (let left = bytes; left > 0; left -= CHUNK_BYTES) yield Buffer.alloc(Math.min(left, CHUNK_BYTES), left);
  }
  await store.put(key, body(), { mimeType: 'video/mp4', bytesMax: bytes });
}
