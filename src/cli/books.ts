import { loadConfig } from '../config.ts';
import { creditsToText } from '../credits.ts';
import { type Db, migrationState } from '../db/index.ts';
import { bookReport } from '../ledger/index.ts';
import { BOOK_DIFFERENCES_MAX } from '../limits.ts';
import { type Command, CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';

export const booksVerify: Command = {
  name: 'books verify',
  operands: [],
  options: { json: { summary: 'print one JSON object instead of lines' } },
  summary: 'recompute every figure of money from all entries ever made',
  details: `Reads every entry of the ledger and compares each balance, grant, reservation, key limit, job and transcription
with what follows from them: all of it, from no checkpoint, as of one moment. Prints the figures, and every imbalance
with its account and entries. Writes nothing: it works on a restored copy, a standby, and beside a running gateway.

Ends with 0 when everything balances, 1 when something does not, 2 when the books could not be read.`,
  failureCode: 2,
  run: verifyBooks,
};

async function verifyBooks({ options, environment }: Invocation): Promise<number> {
  const report = await withDatabase(loadConfig(environment), async (db) => {
    await refuseOtherRelease(db);
    return bookReport.reportBooks(db);
  });
  console.log(options.json === undefined ? linesOf(report).join('\n') : JSON.stringify(booksJson(report)));
  return report.differences.length === 0 ? 0 : 1;
}

/** The statements of this release fit its own tables only. */
async function refuseOtherRelease(db: Db): Promise<void> {
  const found = await migrationState(db);
  if (found.state === 'applied') return;
  const problem =
    'pending' in found
      ? `${found.pending} of ${found.count} migrations are not applied`
      : `this release does not know ${found.name}`;
  throw new CommandError(`The books are not of this release: ${problem}. Use the release that wrote them.`);
}

function linesOf({ counts, credits, differences }: bookReport.BooksReport): readonly string[] {
  const found = differences.map(({ figure, id, account, entries, recorded, computed }) => {
    const place = [account != null && account !== id && `account ${account}`, entries != null && `entries ${entries}`];
    const where = place.filter((part) => part !== false).join(', ');
    return `IMBALANCE ${figure} of ${id}${where && ` (${where})`}: recorded ${recorded}, entries say ${computed}`;
  });
  const count =
    differences.length < BOOK_DIFFERENCES_MAX ? String(differences.length) : `${differences.length} or more`;
  return [
    ...found,
    ...Object.entries(counts).map(([name, value]) => `${name.padEnd(18)} ${value}`),
    ...Object.entries(credits).map(([name, value]) => `${name.padEnd(18)} ${creditsToText(value)} credits`),
    differences.length === 0 ? 'Everything balances.' : `${count} imbalances were found.`,
  ];
}

/** Amounts as exact text: sums over all accounts may exceed what a JSON number holds. */
function booksJson({ counts, credits, differences }: bookReport.BooksReport): object {
  return {
    balanced: differences.length === 0,
    ...counts,
    credits: Object.fromEntries(Object.entries(credits).map(([name, value]) => [name, creditsToText(value)])),
    imbalances: differences,
  };
}
