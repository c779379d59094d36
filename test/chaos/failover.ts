// Kills the primary of a replicated database under load and promotes its replica, over and over, on new servers each time.
// `npm run chaos:failover -- --rounds 10`; with `--planted` replication is asynchronous, and the check must find what is lost.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { playFailover, showFailover } from './failover-round.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, planted: { type: 'boolean', default: false } },
});
for (let round = 0; round < Number(values.rounds); round++) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-failover-'));
  // The server's user must be able to pass.
  await chmod(folder, 0o755);
  try {
    const failover = await playFailover(folder, { isAsynchronous: values.planted });
    console.log(showFailover(failover));
    if (failover.findings.length > 0 !== values.planted) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
