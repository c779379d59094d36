import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What keeps a Debian package from being used on this machine; it is installed first where that can be done. */
export function installPackage(name: string, isInstalled: () => boolean): string | undefined {
  if (isInstalled()) return undefined;
  if (!existsSync('/usr/bin/apt-get')) return `${name} is not installed, and this is not Debian`;
  if (process.getuid?.() !== 0) return `${name} is not installed, and only root may install it`;
  console.error(`Installing ${name} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', name]]) {
    const { status, error, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    if (status !== 0) return `apt-get ${args.join(' ')} failed: ${error?.message ?? stderr.trim().slice(-500)}`;
  }
  return isInstalled() ? undefined : `${name} was installed, and is not found`;
}
