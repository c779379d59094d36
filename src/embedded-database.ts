import { resolve } from 'node:path';
import type { EmbeddedPostgres } from '@tollgate/embedded-postgres';
import type { Config } from './config.ts';
import { openDataFolder } from './data-folder.ts';
import type { Logger } from './log.ts';
import { loadEmbeddedPostgres } from './packages.ts';

export interface EmbeddedOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Short lines for a person who waits. */
  readonly progress: (message: string) => void;
  /** Extra settings of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Is called when the server's process runs but does not answer yet. */
  readonly launched?: () => void;
}

/** The embedded server, unless the settings name another. */
export async function openEmbedded({ config, ...options }: EmbeddedOptions): Promise<EmbeddedPostgres | undefined> {
  if (config.databaseUrl !== undefined) return undefined;
  const { startEmbeddedPostgres } = await loadEmbeddedPostgres();
  const folder = resolve(config.dataFolder);
  openDataFolder(folder);
  return startEmbeddedPostgres({ folder, ...options });
}
