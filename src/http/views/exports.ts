import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import type { ExportedDay } from '../../exports/index.ts';

export const exportSchema = z
  .strictObject({
    id: z.string().describe('The day, of the UTC calendar: `2026-11-17`.'),
    object: z.literal('ledger_export'),
    entries: z.int().describe('How many entries the file has.'),
    bytes: z.int(),
    sha256: z.string().describe('Of the file, in hexadecimal.'),
    exported_at: z.int().describe('Unix seconds.'),
  })
  .meta({ id: 'LedgerExport' });

export function exportView(exported: ExportedDay): z.infer<typeof exportSchema> {
  return {
    id: exported.day,
    object: 'ledger_export',
    entries: Number(exported.entries),
    bytes: Number(exported.bytes),
    sha256: exported.sha256,
    exported_at: unixSeconds(exported.exportedAt),
  };
}
