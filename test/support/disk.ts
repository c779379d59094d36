import assert from 'node:assert/strict';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd, IS_ROOT, sendSignal, serversBelow, until, workFolder, works } from './postgres.ts';

export function canMount(): boolean {
  return IS_ROOT && works(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'trial', '/mnt']);
}

/** A disk that a database just fits on. */
export function smallDisk(t: TestContext): string {
  const folder = workFolder(t);
  assert.ok(works(['mount', '-t', 'tmpfs', '-o', 'size=120m,mode=755', 'small', folder]));
  atEnd(t, async () => {
    // Once the disk is away, it cannot be told any more whose processes they are.
    for (const pid of serversBelow(folder)) sendSignal(pid, 'SIGKILL');
    await until(() => serversBelow(folder).length === 0);
    works(['umount', '--lazy', folder]);
  });
  return folder;
}

/** Leaves no room at all. Returns what gives it back. */
export function fillDisk(folder: string): () => void {
  const path = join(folder, 'filler');
  assert.throws(() => {
    for (;;) appendFileSync(path, Buffer.alloc(4096));
  }, /ENOSPC/);
  return () => rmSync(path);
}
