import { readFileSync } from 'node:fs';
import { SCOPES } from '../../scopes.ts';
import { CommandError, type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { reasonOf } from '../finding.ts';
import { connectOperator } from '../gateway/connect.ts';
import { fields, moment, print, table } from '../output.ts';

/** The configuration in force, as YAML without secrets. */
export async function showConfig(invocation: Invocation): Promise<number> {
  const connection = connectOperator(invocation);
  const format = invocation.options.json === undefined ? 'yaml' : 'json';
  console.log((await connection.text('GET', '/api/admin/config', { query: { format } })).trimEnd());
  return EXIT.done;
}

interface Applied {
  readonly version: number;
  readonly changes: readonly string[];
  readonly warnings: readonly string[];
}

export async function applyConfig(invocation: Invocation): Promise<number> {
  const [path = ''] = invocation.operands;
  let body: string;
  try {
    body = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
  const headers = { 'content-type': 'application/yaml' };
  const applied = await connectOperator(invocation).json<Applied>('PUT', '/api/admin/config', { body, headers });
  return showApplied(invocation, applied);
}

/** Puts an earlier version in force again, as a new one. */
export async function revertConfig(invocation: Invocation): Promise<number> {
  const version = encodeURIComponent(invocation.operands[0] ?? '');
  const path = `/api/admin/config/versions/${version}/apply`;
  return showApplied(invocation, await connectOperator(invocation).json<Applied>('POST', path));
}

function showApplied({ options }: Invocation, applied: Applied): number {
  const { version, changes, warnings } = applied;
  print(options, applied, () => [
    `Version ${version} is in force.`,
    ...(changes.length === 0 ? ['Nothing changed.'] : changes),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ]);
  return EXIT.done;
}

interface Version {
  readonly version: number;
  readonly source: string;
  readonly actor: string;
  readonly applied_at: number;
  readonly change_count: number;
}

export async function listVersions(invocation: Invocation): Promise<number> {
  const list = await connectOperator(invocation).get<{ data: readonly Version[] }>('/api/admin/config/versions');
  const rows = list.data.map((each) => [
    each.version,
    moment(each.applied_at),
    each.source,
    each.actor,
    each.change_count,
  ]);
  print(invocation.options, list, () => table(['version', 'applied', 'source', 'by', 'changes'], rows));
  return EXIT.done;
}

interface Client {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly device_flow: boolean;
  readonly client_secret?: string;
}

export async function listClients(invocation: Invocation): Promise<number> {
  const list = await connectOperator(invocation).get<{ data: readonly Client[] }>('/api/admin/oauth/clients');
  const rows = list.data.map(({ id, name, device_flow, scopes }) => [
    id,
    name,
    device_flow ? 'yes' : 'no',
    scopes.join(' '),
  ]);
  print(invocation.options, list, () => table(['id', 'name', 'device', 'scopes'], rows));
  return EXIT.done;
}

/** Registers an app. Standard output is its id alone, and its secret where it has one. */
export async function createClient(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const isDevice = options.device !== undefined;
  if (!isDevice && options.redirect === undefined)
    throw new UsageError('tollgate oauth create needs --redirect or --device.');
  const json = {
    name: operands[0],
    // One that is used in no device login, and that the registration asks for.
    redirect_uris: [options.redirect ?? 'http://127.0.0.1/callback'],
    scopes: options.scope?.split(/[\s,]+/) ?? SCOPES,
    device_flow: isDevice,
    confidential: options.confidential !== undefined,
  };
  const client = await connectOperator(invocation).json<Client>('POST', '/api/admin/oauth/clients', { json });
  print(options, client, () => [client.id, ...(client.client_secret === undefined ? [] : [client.client_secret])]);
  return EXIT.done;
}

export async function deleteClient(invocation: Invocation): Promise<number> {
  const [id = ''] = invocation.operands;
  const answer = await connectOperator(invocation).json('DELETE', `/api/admin/oauth/clients/${encodeURIComponent(id)}`);
  print(invocation.options, answer, () => `${id} is removed, with every grant to it.`);
  return EXIT.done;
}

interface Books {
  readonly balanced: boolean;
  readonly accounts: number;
  readonly entries: number;
  readonly entries_checked: number;
  readonly difference?: object;
}

/** Ends with 1 where something does not balance. */
export async function checkBooks(invocation: Invocation): Promise<number> {
  const query = { full: invocation.options.full === undefined ? undefined : '1' };
  const books = await connectOperator(invocation).get<Books>('/api/admin/books', query);
  print(invocation.options, books, () => [
    ...fields([
      ['accounts', books.accounts],
      ['entries', books.entries],
      ['checked now', books.entries_checked],
    ]),
    books.balanced ? 'Everything balances.' : `IMBALANCE ${JSON.stringify(books.difference)}`,
  ]);
  return books.balanced ? EXIT.done : EXIT.failed;
}
