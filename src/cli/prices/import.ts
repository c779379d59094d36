import { chmodSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { loadConfig } from '../../config.ts';
import { type ConfigDocument, parseDocument } from '../../configuration/index.ts';
import { type Decimal, decimalFromText } from '../../credits.ts';
import { readDocument } from '../../start-configuration.ts';
import { vendors } from '../../vendors/index.ts';
import { CommandError, type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { print } from '../output.ts';
import type { Change } from './changes.ts';
import { chosenModels } from './chosen-models.ts';
import { applyEdits, type Edit, editsFor } from './edit-text.ts';
import { readPriceList } from './price-list.ts';
import { propose } from './proposal.ts';
import type { Terms } from './rates.ts';
import { unifiedDiff } from './unified-diff.ts';

/** What a credit is worth unless the operator says otherwise: the examples go by it. */
const CREDIT_USD = '0.001';
const MARGIN_PERCENT_MAX = 10_000n;
const DECIMALS_MAX = 12;
const BYTE_ORDER_MARK = '\uFEFF';

/** Writes nothing unless everything could be priced and `--write` says so. */
export function importPrices({ operands: [listPath = ''], options, environment }: Invocation): number {
  const terms = readTerms(options);
  const list = readPriceList(listPath);
  const path = options.config ?? loadConfig(environment).configFile ?? 'tollgate.yaml';
  const source = readDocument(path);
  const mark = source.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const text = source.slice(mark.length);
  const document = parseDocument(text, vendors);
  const chosen = chosenModels(document, options.models);
  const { changes, notes, models } = propose({ document, list, terms, chosen, isLenient: options.known !== undefined });
  const edits = editsFor(text, changes);
  const after = applyEdits(text, edits);
  checkResult(document, after, changes);
  const isWritten = options.write !== undefined && edits.length > 0;
  if (isWritten) writeWhole(path, mark + after);
  const diff = edits.length === 0 ? [] : withoutKeys(document, unifiedDiff(path, text, edits));
  print(options, { list: list.title, models, diff: diff.join('\n'), notes, is_written: isWritten }, () => [
    ...diff,
    ...notes.map((note) => `Note: ${note}.`),
    `${models.length} of ${document.models.length} models priced by ${list.title}: ${options.margin} on top of its prices, a credit at ${options['credit-usd'] ?? CREDIT_USD} USD.`,
    ending(edits, path, isWritten),
  ]);
  return EXIT.done;
}

function ending(edits: readonly Edit[], path: string, isWritten: boolean): string {
  if (edits.length === 0) return `${path} has these prices already.`;
  return isWritten
    ? `${path} is written; config apply or a restart puts it in force.`
    : 'Nothing is written without --write.';
}

function readTerms(options: Invocation['options']): Terms {
  const { margin, 'credit-usd': worth = CREDIT_USD } = options;
  if (margin === undefined) throw new UsageError('tollgate prices import needs --margin, such as --margin 20%.');
  const marginPercent = margin.endsWith('%') ? decimalOf(margin.slice(0, -1)) : undefined;
  if (marginPercent === undefined || marginPercent.digits > MARGIN_PERCENT_MAX * 10n ** BigInt(marginPercent.scale)) {
    throw new UsageError('--margin must be a percentage from 0% to 10000%, such as 20%.');
  }
  const creditUsd = decimalOf(worth);
  if (creditUsd === undefined || creditUsd.digits === 0n) {
    throw new UsageError('--credit-usd must be what one credit is worth in USD, such as 0.001.');
  }
  return { marginPercent, creditUsd };
}

function decimalOf(text: string): Decimal | undefined {
  return /^\d{1,12}(\.\d{1,12})?$/.test(text) ? decimalFromText(text, DECIMALS_MAX) : undefined;
}

/** Throws unless the edited text is a valid document in which these values changed and nothing else did. */
function checkResult(before: ConfigDocument, text: string, changes: readonly Change[]): void {
  const expected = structuredClone(before);
  for (const { path, value } of changes) {
    const parent = path.slice(0, -1).reduce<unknown>((node, key) => Reflect.get(Object(node), key), expected);
    const plain = typeof value === 'string' ? Number(value) : value.map(numbersOf);
    Reflect.set(Object(parent), path.at(-1) ?? '', plain);
  }
  if (isDeepStrictEqual(withoutEmptyTiers(parseDocument(text, vendors)), withoutEmptyTiers(expected))) return;
  throw new CommandError('A price is written for several models at once, by an anchor: write each out first.');
}

function numbersOf(rung: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(rung).map(([name, value]) => [name, Number(value)]));
}

/** No rungs and an empty list of them mean the same. */
function withoutEmptyTiers(document: ConfigDocument): unknown {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === 'token_tiers' && Array.isArray(value) && value.length === 0 ? undefined : value,
  );
}

/** The lines around a price may hold keys. */
function withoutKeys({ upstreams }: ConfigDocument, lines: readonly string[]): readonly string[] {
  const keys = upstreams.flatMap(({ api_key }) => (api_key === undefined || api_key.startsWith('${') ? [] : [api_key]));
  const forms = keys.flatMap((key) => [key, JSON.stringify(key).slice(1, -1), key.replaceAll("'", "''")]);
  return lines.map((line) => forms.reduce((shown, key) => shown.replaceAll(key, '********'), line));
}

/** Appears whole or not at all, with the rights that the file had. */
function writeWhole(path: string, text: string): void {
  const target = realpathSync(path);
  const { mode } = statSync(target);
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, text, { mode });
  chmodSync(draft, mode);
  renameSync(draft, target);
}
