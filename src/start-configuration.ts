import { existsSync, readFileSync, statSync } from 'node:fs';
import { applyAtStart, type Catalogue, type CatalogueDeps } from './catalogue/index.ts';
import type { Config, Environment } from './config.ts';
import { BUILT_IN_CATALOGUE, checkVariables, DocumentError, parseDocument } from './configuration/index.ts';
import { CONFIG_BODY_BYTES_MAX } from './limits.ts';
import type { Logger } from './log.ts';
import { findVendor, vendors } from './vendors/index.ts';

const EMPTY_CATALOGUE = '{ "upstreams": [], "models": [] }';

/** What a start applies. */
export interface Configuration {
  readonly source: 'file' | 'built-in';
  readonly text: string;
}

/** The file that the settings name, else the one that lies there, else the built-in catalogue. Throws DocumentError. */
export function readConfiguration(
  config: Config,
  { environment, log }: { readonly environment: Environment; readonly log: Logger },
): Configuration {
  const path = config.configFile ?? (existsSync('tollgate.yaml') ? 'tollgate.yaml' : undefined);
  if (path !== undefined) {
    const text = readDocument(path);
    checkVariables(parseDocument(text, vendors), environment);
    return { source: 'file', text };
  }
  // In production nothing takes the place of the sandbox, also where an earlier start has put it in force.
  if (config.production) log.warn('No configuration file: the sandbox catalogue is not used with NODE_ENV=production');
  const missing = config.production ? undefined : findVendor('sandbox')?.missing;
  if (missing !== undefined) {
    const problem = `there is no configuration file, and the sandbox of the built-in catalogue is ${missing}, or name a file with TOLLGATE_CONFIG`;
    throw new DocumentError([{ path: '', problem }]);
  }
  return { source: 'built-in', text: config.production ? EMPTY_CATALOGUE : BUILT_IN_CATALOGUE };
}

/** Applies it, unless something that outranks it is in force, and answers from what is then in force. */
export async function putInForce(
  deps: CatalogueDeps,
  catalogue: Catalogue,
  { source, text }: Configuration,
): Promise<void> {
  const name = source === 'file' ? 'file' : 'start';
  await applyAtStart(deps, { name, requestId: undefined }, source, text);
  await catalogue.reload();
}

/** The text of a configuration file. Throws DocumentError when it cannot be read as text of a sensible size. */
export function readDocument(path: string): string {
  const refused = (problem: string) => new DocumentError([{ path: '', problem: `${path} ${problem}` }]);
  try {
    if (statSync(path).size > CONFIG_BODY_BYTES_MAX) throw refused(`has more than ${CONFIG_BODY_BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    if (error instanceof TypeError) throw refused('is not a text in UTF-8');
    throw refused(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
