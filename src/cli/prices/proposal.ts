import type { ConfigDocument, ConfigModel } from '../../configuration/index.ts';
import { findVendor, priceNames } from '../../vendors/index.ts';
import { CommandError } from '../command.ts';
import { type Change, changesOf, strangeReferences } from './changes.ts';
import type { ChosenModels } from './chosen-models.ts';
import type { ListPrice } from './list-price.ts';
import { newRates } from './new-rates.ts';
import type { PriceList } from './price-list.ts';
import type { Terms } from './rates.ts';

interface Order {
  readonly document: ConfigDocument;
  readonly list: PriceList;
  readonly terms: Terms;
  readonly chosen: ChosenModels;
  /** Leaves alone a model of which a row is missing, instead of refusing everything. */
  readonly isLenient: boolean;
}

export interface Proposal {
  readonly changes: readonly Change[];
  /** The models that were priced. */
  readonly models: readonly string[];
  readonly notes: readonly string[];
}

/** Prices every chosen model. Throws CommandError with everything that keeps one from being priced. */
export function propose(order: Order): Proposal {
  const problems: string[] = [];
  const priced = order.document.models.flatMap((model, at) => {
    if (!order.chosen.has(model.id)) return [];
    try {
      return [priceModel(order, model, at)];
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems.push(`${model.id}: ${error.message}`);
      return [];
    }
  });
  const models = priced.flatMap((proposal) => proposal.models);
  if (problems.length === 0 && models.length === 0) problems.push('the list has none of the models');
  if (problems.length > 0) {
    const lines = problems.map((problem) => `  - ${problem}`);
    throw new CommandError(`No price is imported, and nothing is written:\n${lines.join('\n')}\n${ADVICE}`);
  }
  return { changes: priced.flatMap(({ changes }) => changes), models, notes: priced.flatMap(({ notes }) => notes) };
}

const ADVICE = `--known leaves alone models that it does not have; --models ID,ID=ROW names the models, and the row of a model that is called otherwise there.`;

function priceModel(order: Order, model: ConfigModel, at: number): Proposal {
  const { list, terms, isLenient } = order;
  const { rows, missing } = rowsOf(order, model);
  if (missing.length > 0 && !isLenient) throw new CommandError(`the list has no row for ${missing.join(' and ')}`);
  if (missing.length > 0) {
    // A price that covers some of its routes alone could be below what another takes.
    return {
      changes: [],
      models: [],
      notes: [`${model.id} stays as it is: the list has no row for ${missing.join(' and ')}`],
    };
  }
  const prices = rows.map((row) => list.read(row));
  const rates = newRates(model, prices, terms);
  const changes = changesOf(model, at, rates, terms);
  return { changes, models: [model.id], notes: notesOn(model, prices).map((note) => `${model.id} ${note}`) };
}

function rowsOf(
  { document, list, chosen }: Order,
  model: ConfigModel,
): { rows: readonly string[]; missing: readonly string[] } {
  const named = chosen.get(model.id) ?? '';
  if (named !== '') return { rows: [named], missing: [] };
  const found = model.routes.map((route) => {
    const upstream = document.upstreams.find(({ id }) => id === route.upstream);
    const names = priceNames(upstream ?? { vendor: '' }, findVendor(upstream?.vendor ?? '')?.dialects);
    return { row: list.find(names, route.model), route: `${route.model} of ${route.upstream}` };
  });
  return {
    rows: [...new Set(found.flatMap(({ row }) => row ?? []))],
    missing: found.flatMap(({ row, route }) => (row === undefined ? [route] : [])),
  };
}

const RATIOS = ['size_ratio', 'quality_ratio', 'resolution_ratio', 'flag_ratio'] as const;

/** What the operator has to look at, since the list does not decide it. */
function notesOn(model: ConfigModel, prices: readonly ListPrice[]): readonly string[] {
  const { pricing } = model;
  const ratios = RATIOS.filter((name) => pricing[name] !== undefined);
  const references = strangeReferences(model);
  const unread = prices.filter((price) => price.unread.length > 0);
  const hasOnce = pricing.credits.per_second !== undefined && pricing.credits.base !== undefined;
  return [
    ...(ratios.length > 0 ? [`keeps its ${ratios.join(' and ')}: the list has the price at a ratio of 1`] : []),
    ...(hasOnce ? ['keeps its base, which is charged once'] : []),
    ...(references.length > 0 ? [`keeps its ${references.join(' and ')}`] : []),
    ...unread.map(({ row, unread: fields }) => `has further prices in ${row}: ${fields.join(', ')}`),
  ];
}
