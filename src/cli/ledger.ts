import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadConfig } from '../config.ts';
import { entriesOfDay, gzipped } from '../exports/index.ts';
import { postJournal } from '../ledger/index.ts';
import { CommandError, type Invocation, UsageError } from './command.ts';
import { withDatabase } from './deployment.ts';
import { print } from './output.ts';

export async function writeDay({ operands: [day = '', file = ''], options, environment }: Invocation): Promise<number> {
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
  print(options, { file, day, entries }, () => `${file} holds the ${entries} entries of ${day}.`);
  return 0;
}
