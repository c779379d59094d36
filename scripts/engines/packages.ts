import { existsSync } from 'node:fs';
import { installPackage } from '../debian.ts';

/** The Debian packages whose servers the tests in test/engines start, each with the program that proves it is installed. */
const PACKAGES = [
  { name: 'redis-server', program: '/usr/bin/redis-server' },
  { name: 'postgresql', program: '/usr/bin/pg_dump' },
  { name: 'python3-swift', program: '/usr/lib/python3/dist-packages/swift/common/middleware/s3api/s3api.py' },
  { name: 'systemd', program: '/usr/bin/systemd-analyze' },
  { name: 'pgbouncer', program: '/usr/sbin/pgbouncer' },
  { name: 'prometheus', program: '/usr/bin/promtool' },
] as const;

/** What keeps these servers from running on this machine; the packages are installed first where that can be done. */
export function installEngines(): string | undefined {
  for (const { name, program } of PACKAGES) {
    const problem = installPackage(name, () => existsSync(program));
    if (problem !== undefined) return problem;
  }
  return undefined;
}
