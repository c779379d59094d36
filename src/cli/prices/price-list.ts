import { readFileSync, statSync } from 'node:fs';
import type { PriceNames } from '../../vendors/index.ts';
import { CommandError } from '../command.ts';
import { reasonOf } from '../finding.ts';
import { type Fields, Figure, isFields, type ListPrice } from './list-price.ts';
import { findLiteLlm, isLiteLlm, readLiteLlm } from './litellm.ts';
import { findModelsDev, isModelsDev, readModelsDev } from './models-dev.ts';

/** Both lists have less than three mebibytes in 2026. */
const LIST_BYTES_MAX = 64 * 1024 * 1024;

/** A public price list, in one of the two forms that are read. */
export interface PriceList {
  readonly title: 'LiteLLM' | 'models.dev';
  /** The name of a model's row; undefined where there is none. */
  find(names: PriceNames, model: string): string | undefined;
  /** Throws CommandError for what is no row or no price. */
  read(row: string): ListPrice;
}

/** Throws CommandError for a file that is neither. */
export function readPriceList(path: string): PriceList {
  const file = parseList(path, readText(path));
  if (isModelsDev(file)) {
    return {
      title: 'models.dev',
      find: ({ modelsDev }, model) => findModelsDev(file, modelsDev, model),
      read: (row) => readModelsDev(file, row),
    };
  }
  if (!isLiteLlm(file)) throw new CommandError(`${path} is no price list: ${EXPECTED}.`);
  return {
    title: 'LiteLLM',
    find: ({ litellm }, model) => findLiteLlm(file, litellm, model),
    read: (row) => readLiteLlm(file, row),
  };
}

const EXPECTED = 'expected model_prices_and_context_window.json of LiteLLM, or api.json of models.dev';

function readText(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > LIST_BYTES_MAX) throw new CommandError(`${path} has ${size} bytes, more than any price list.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

function parseList(path: string, text: string): Fields {
  let file: unknown;
  try {
    file = JSON.parse(text, keepWritten);
  } catch (error) {
    throw new CommandError(`${path} is not JSON: ${reasonOf(error)}.`);
  }
  if (!isFields(file)) throw new CommandError(`${path} is no price list: ${EXPECTED}.`);
  return file;
}

/** The engine passes the text of each number beside it. */
function keepWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? new Figure(context?.source ?? '') : value;
}
