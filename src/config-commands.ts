import { configurationPath, readConfiguration } from './app.ts';
import { type Environment, loadConfig } from './config.ts';
import { BUILT_IN_CATALOGUE, diffDocuments, parseDocument, unsetVariables } from './configuration/index.ts';
import { vendors } from './vendors/index.ts';

/** `tollgate config check FILE`: needs neither a server nor a database. Throws DocumentError. */
export function checkFile(path: string, environment: Environment): number {
  const document = parseDocument(readConfiguration(path), vendors);
  console.log(`${path} is valid: ${document.upstreams.length} upstreams, ${document.models.length} models.`);
  for (const name of unsetVariables(document, environment)) {
    console.log(`Note: it takes a secret from ${name}, which is not set here.`);
  }
  return 0;
}

/** `tollgate config diff FILE [OTHER]`: what FILE would change. */
export function diffFiles(path: string, other: string | undefined, environment: Environment): number {
  const against = other ?? configurationPath(loadConfig(environment));
  const before = against === undefined ? BUILT_IN_CATALOGUE : readConfiguration(against);
  const lines = diffDocuments(parseDocument(before, vendors), parseDocument(readConfiguration(path), vendors));
  console.log(lines.length === 0 ? 'No difference.' : lines.join('\n'));
  return 0;
}
