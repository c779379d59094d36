import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import type { RootSecrets } from '../seal.ts';
import { FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';

/** The bucket that the settings name, else the folder. Throws ConfigError or DataFolderError. */
export async function openObjectStore(config: Config, secrets: RootSecrets): Promise<ObjectStore> {
  if (config.s3 !== undefined) {
    const { openS3Store } = await import('./s3-store.ts');
    return openS3Store(config.s3);
  }
  const folder = join(resolve(config.dataFolder), 'objects');
  return FolderStore.open({ folder, publicUrl: config.publicUrl, ...secrets });
}
