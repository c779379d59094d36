import { resolve } from 'node:path';
import { request } from 'undici';
import { withoutTrailingSlashes } from '../addresses.ts';
import { rootSecretsOf } from '../app.ts';
import { newestVersion, openSecrets } from '../catalogue/index.ts';
import { type Config, loadConfig } from '../config.ts';
import {
  type ConfigDocument,
  diffDocuments,
  documentWarnings,
  maskDocument,
  parseDocument,
  unmaskDocument,
  unsetVariables,
} from '../configuration/index.ts';
import { readKeptSecret } from '../data-folder.ts';
import { readDocument } from '../start-configuration.ts';
import { vendors } from '../vendors/index.ts';
import { CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';
import { print } from './output.ts';

export function checkFile({ operands: [path = ''], options, environment }: Invocation): number {
  const document = parseDocument(readDocument(path), vendors);
  const { upstreams, models } = document;
  const warnings = documentWarnings(document);
  const unset = unsetVariables(document, environment);
  print(options, { upstreams: upstreams.length, models: models.length, warnings, unset_variables: unset }, () => [
    `${path} is valid: ${upstreams.length} upstreams, ${models.length} models.`,
    ...warnings.map((warning) => `Warning: ${warning}.`),
    ...unset.map((name) => `Note: it takes a secret from ${name}, which is not set here.`),
  ]);
  return 0;
}

export async function diffFile({ operands, options, environment }: Invocation): Promise<number> {
  const { url } = options;
  const [path = '', other] = operands;
  if (other !== undefined && url !== undefined) throw new CommandError('OTHER and --url exclude each other.');
  const after = parseDocument(readDocument(path), vendors);
  if (other !== undefined) return show(options, parseDocument(readDocument(other), vendors), after);
  const config = loadConfig(environment);
  if (url === undefined) return show(options, await documentInForce(config), after);
  // Keys come masked over the wire: they are compared as far as they are shown.
  const masked = maskDocument(after);
  if (JSON.stringify(masked) !== JSON.stringify(after)) {
    console.error('Note: keys that are written out in a configuration are not compared over --url.');
  }
  return show(options, await documentAt(url, config), masked);
}

function show(options: Invocation['options'], before: ConfigDocument, after: ConfigDocument): number {
  const changes = diffDocuments(before, after);
  print(options, { changes }, () => (changes.length === 0 ? 'No difference.' : changes));
  return 0;
}

async function documentInForce(config: Config): Promise<ConfigDocument> {
  const newest = await withDatabase(config, newestVersion);
  if (newest === undefined) return { upstreams: [], models: [] };
  return unmaskDocument({ document: newest.document, secrets: openSecrets(rootSecretsOf(config), newest) });
}

async function documentAt(url: string, config: Config): Promise<ConfigDocument> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandError('--url must be an address such as https://api.example.com.');
  }
  const token = config.adminTokens[0] ?? readKeptSecret(resolve(config.dataFolder), 'admin-token');
  if (token === undefined) throw new CommandError('--url needs the admin token: set TOLLGATE_ADMIN_TOKEN.');
  const address = `${withoutTrailingSlashes(url)}/api/admin/config`;
  const headers = { authorization: `Bearer ${token.reveal()}` };
  const answer = await request(address, { headers }).catch((error: Error) => {
    throw new CommandError(`${url} cannot be reached: ${error.message}.`);
  });
  const text = await answer.body.text();
  if (answer.statusCode === 404) throw new CommandError(`${url} does not take this admin token, or is no Tollgate.`);
  if (answer.statusCode !== 200) throw new CommandError(`${url} answered ${answer.statusCode}.`);
  return parseDocument(text, vendors);
}
