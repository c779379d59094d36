import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadConfig } from '../config.ts';
import { entriesOfDay, gzipped } from '../exports/index.ts';
import { postJournal } from '../ledger/index.ts';
import { type Command, CommandError, type Invocation, UsageError } from './command.ts';
import { withDatabase } from './deployment.ts';

export const ledgerExport: Command = {
  name: 'ledger export',
  operands: ['DAY', 'FILE'],
  options: {},
  summary: 'write the ledger entries of one day to a file, as CSV in gzip',
  details: `Writes every entry of DAY, of the UTC calendar and written as 2026-11-17, to FILE, which must not exist. The
gateway may run meanwhile. Amounts are credits in exact decimals; the sums of all days are the balances.

With TOLLGATE_LEDGER_EXPORT=1 the gateway itself puts such a file into the object store each day.`,
  run: writeDay,
};

async function writeDay({ operands: [day = '', file = ''], environment }: Invocation): Promise<number> {
  if (Number.isNaN(Date.parse(`${day}T00:00:00Z`))) throw new UsageError(`"${day}" is no day such as 2026-11-17.`);
  let entries = 0;
  const onPiece = (count: number) => {
    entries += count;
  };
  await withDatabase(loadConfig(environment), async (db) => {
    await postJournal(db, undefined);
    const output = createWriteStream(file, { flags: 'wx', mode: 0o600 });
    try {
      await pipeline(Readable.from(gzipped(entriesOfDay(db, day, { onPiece }))), output);
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw new CommandError(`${file} cannot be written: ${error.message}.`);
    }
  });
  console.log(`${file} holds the ${entries} entries of ${day}.`);
  return 0;
}
