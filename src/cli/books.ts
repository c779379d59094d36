import { loadConfig } from '../config.ts';
import { creditsToText } from '../credits.ts';
import { type Db, migrationState } from '../db/index.ts';
import { verdicts } from '../ledger/index.ts';
import { BOOK_DIFFERENCES_MAX } from '../limits.ts';
import { CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';

export async function verifyBooks({ options, environment }: Invocation): Promise<number> {
  const report = await withDatabase(loadConfig(environment), async (db) => {
    await refuseOtherRelease(db);
    return verdicts.reportBooks(db);
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

function linesOf({ counts, credits, differences }: verdicts.BooksReport): readonly string[] {
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
function booksJson({ counts, credits, differences }: verdicts.BooksReport): object {
  return {
    balanced: differences.length === 0,
    ...counts,
    credits: Object.fromEntries(Object.entries(credits).map(([name, value]) => [name, creditsToText(value)])),
    imbalances: differences,
  };
}
