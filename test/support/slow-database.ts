import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestDatabase } from './database.ts';

/**
 * The same database at the end of a long wire: every answer takes this much longer, except that announcements are
 * heard at once.
 */
export async function slowDatabase(database: TestDatabase, latencyMs: number): Promise<TestDatabase> {
  if (!('host' in database.address)) throw new Error('The database has no socket.');
  const { host, port, user, database: name } = database.address;
  const wire = createServer((near) => relay(near, connect(join(host, `.s.PGSQL.${port}`)), latencyMs));
  // It ends with the last connection, which the gateway closes.
  wire.unref().listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const address = wire.address();
  if (address === null || typeof address === 'string') throw new Error('The wire has no port.');
  return { ...database, url: `postgres://${user}@127.0.0.1:${address.port}/${name}` };
}

function relay(near: Socket, far: Socket, latencyMs: number): void {
  let listens = false;
  near.on('data', (bytes: Buffer) => {
    listens ||= bytes.includes('listen tollgate');
    far.write(bytes);
  });
  far.on('data', (bytes: Buffer) => {
    if (listens) near.write(bytes);
    else setTimeout(() => near.write(bytes), latencyMs);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}
