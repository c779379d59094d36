import { execFile } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SIZE = '64m';
const BLOCK_BYTES = 64 * 1024;

/** A file system of bounded size in memory, which a campaign fills. Mounting one needs root on Linux. */
export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async mount(folder: string): Promise<SmallDisk> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'tollgate-verify', folder]);
    return new SmallDisk(folder);
  }

  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.#folder]);
  }

  /** Leaves no room at all. */
  fill(): void {
    for (let bytes = BLOCK_BYTES; bytes >= 1; ) {
      try {
        appendFileSync(this.#filler, Buffer.alloc(bytes));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
        bytes = Math.floor(bytes / 2);
      }
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  /** Among the unfinished, which no checker looks at. */
  get #filler(): string {
    return join(this.#folder, 'filler');
  }
}

/** Why no disk can be bounded here; undefined where one can. */
export async function whyNoSmallDisk(folder: string): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'a bounded disk is mounted by root on Linux only';
  try {
    const disk = await SmallDisk.mount(join(folder, 'trial-disk'));
    await disk.unmount();
    return undefined;
  } catch {
    return 'this system does not let a disk be mounted';
  }
}
