import { globSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { VendorContract } from '../../src/vendors/emulator/contract.ts';

/** By vendor; a new one is found by its file. */
export const vendorContracts: ReadonlyMap<string, VendorContract> = new Map(
  await Promise.all(
    globSync('src/vendors/*/contract.ts')
      .filter((file) => !file.includes('/emulator/'))
      .map(async (file) => {
        const { contract } = (await import(resolve(file))) as { contract: VendorContract };
        return [basename(dirname(file)), contract] as const;
      }),
  ),
);
