import type { Key } from '../account/money.ts';
import { type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connectOperator } from '../gateway/connect.ts';
import { fields, moment, print, table } from '../output.ts';

interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly status: string;
  readonly groups: readonly string[];
  readonly balance: number;
  readonly held: number;
  readonly created_at: number;
}

export async function listAccounts(invocation: Invocation): Promise<number> {
  const { search, limit } = invocation.options;
  const list = await connectOperator(invocation).get<{ data: readonly Account[] }>('/api/admin/accounts', {
    search,
    limit,
  });
  const rows = list.data.map(({ id, name, status, balance, held }) => [id, name, status, balance, held]);
  print(invocation.options, list, () => table(['id', 'name', 'status', 'balance', 'held'], rows));
  return EXIT.done;
}

export async function showAccount(invocation: Invocation): Promise<number> {
  return showAccountFields(invocation, await connectOperator(invocation).get<Account>(accountPath(invocation)));
}

export async function createAccount(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const json = { name: operands[0], ...(options.email !== undefined && { email: options.email }) };
  return showAccountFields(
    invocation,
    await connectOperator(invocation).json<Account>('POST', '/api/admin/accounts', { json }),
  );
}

export async function suspendAccount(invocation: Invocation): Promise<number> {
  return changeStatus(invocation, 'suspended');
}

export async function resumeAccount(invocation: Invocation): Promise<number> {
  return changeStatus(invocation, 'active');
}

async function changeStatus(invocation: Invocation, status: string): Promise<number> {
  const account = await connectOperator(invocation).json<Account>('PATCH', accountPath(invocation), {
    json: { status },
  });
  return showAccountFields(invocation, account);
}

function showAccountFields({ options }: Invocation, account: Account): number {
  print(options, account, () =>
    fields([
      ['id', account.id],
      ['name', account.name],
      ['email', account.email],
      ['status', account.status],
      ['groups', account.groups.join(', ')],
      ['balance', account.balance],
      ['held', account.held],
      ['made', moment(account.created_at)],
    ]),
  );
  return EXIT.done;
}

function accountPath({ operands }: Invocation, rest = ''): string {
  return `/api/admin/accounts/${encodeURIComponent(operands[0] ?? '')}${rest}`;
}

interface Grant {
  readonly id: string;
  readonly credits: number;
}

/** Gives credits, or takes unspent ones back. With a reference it may be repeated: that is granted once. */
export async function grantCredits(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const credits = Number(operands[1]);
  if (!Number.isFinite(credits) || credits === 0) throw new UsageError(`"${operands[1]}" is no number of credits.`);
  const { reference, reason } = options;
  const json = { credits, ...(reference !== undefined && { reference }), ...(reason !== undefined && { reason }) };
  const grant = await connectOperator(invocation).json<Grant>('POST', accountPath(invocation, '/grants'), { json });
  print(options, grant, () => `${grant.id} gives ${operands[0]} ${credits} credits.`);
  return EXIT.done;
}

export async function listKeys(invocation: Invocation): Promise<number> {
  const list = await connectOperator(invocation).get<{ data: readonly Key[] }>(accountPath(invocation, '/keys'));
  const rows = list.data.map((key) => [
    key.id,
    key.name,
    key.disabled ? 'disabled' : 'live',
    key.credits_used,
    key.credit_limit,
    moment(key.last_used_at),
  ]);
  print(invocation.options, list, () => table(['id', 'name', 'state', 'used', 'limit', 'last used'], rows));
  return EXIT.done;
}

type NewKey = Key & { readonly key: string };

export async function createKey(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const limit = options['credit-limit'];
  const json = { name: operands[1], ...(limit !== undefined && { credit_limit: Number(limit) }) };
  return showNewKey(
    invocation,
    await connectOperator(invocation).json('POST', accountPath(invocation, '/keys'), { json }),
  );
}

export async function rollKey(invocation: Invocation): Promise<number> {
  const json = { overlap_seconds: Number(invocation.options.overlap ?? '0') };
  return showNewKey(
    invocation,
    await connectOperator(invocation).json('POST', `${keyPath(invocation)}/roll`, { json }),
  );
}

/** Standard output is the key alone, so that it can be given to another command. */
function showNewKey({ options }: Invocation, key: NewKey): number {
  print(options, key, () => key.key);
  if (options.json === undefined) process.stderr.write(`${key.id} ${key.name}. The key is shown this once.\n`);
  return EXIT.done;
}

export async function deleteKey(invocation: Invocation): Promise<number> {
  const answer = await connectOperator(invocation).json('DELETE', keyPath(invocation));
  print(invocation.options, answer, () => `${invocation.operands[0]} is deleted and refused everywhere.`);
  return EXIT.done;
}

function keyPath({ operands }: Invocation): string {
  return `/api/admin/keys/${encodeURIComponent(operands[0] ?? '')}`;
}
