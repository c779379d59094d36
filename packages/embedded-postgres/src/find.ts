import { realpath } from 'node:fs/promises';
import { ask } from './ask.ts';
import { hasCode } from './binaries.ts';
import { hasCluster, placesIn } from './folders.ts';
import { connectionTo, type EmbeddedPostgres } from './server.ts';

export type EmbeddedState =
  /** There is no database in this folder. */
  | { readonly state: 'absent' }
  | { readonly state: 'stopped' }
  | { readonly state: 'running'; readonly connection: EmbeddedPostgres['connection'] };

/** Whether the data folder, absolute, has a database and a server for it. Makes and starts nothing. */
export async function findEmbeddedPostgres(folder: string): Promise<EmbeddedState> {
  const real = await realpath(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (real === undefined) return { state: 'absent' };
  const places = placesIn(real);
  if (!(await hasCluster(places))) return { state: 'absent' };
  const answer = await ask(places.socketFolder);
  if (answer.state !== 'ready') return { state: 'stopped' };
  answer.watch.close();
  return { state: 'running', connection: connectionTo(places) };
}
