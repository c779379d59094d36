import type { Invocation } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connect } from '../gateway/connect.ts';
import { fields, moment, print, table } from '../output.ts';

interface Balance {
  readonly available: number;
  readonly reserved: number;
  readonly spent: number;
}

export async function showCredits(invocation: Invocation): Promise<number> {
  const balance = await connect(invocation).get<Balance>('/v1/credits');
  const { available, reserved, spent } = balance;
  print(invocation.options, balance, () =>
    fields([
      ['available', available],
      ['reserved', reserved],
      ['spent', spent],
    ]),
  );
  return EXIT.done;
}

interface Usage {
  readonly group_by: string;
  readonly data: readonly { readonly group: string; readonly requests: number; readonly credits: number }[];
}

/** What was charged, by day, model or key. */
export async function showUsage(invocation: Invocation): Promise<number> {
  const { options } = invocation;
  const connection = connect(invocation);
  const query = { group_by: options.by, from: options.from, to: options.to };
  if (options.csv !== undefined) {
    process.stdout.write(await connection.text('GET', '/v1/usage', { query: { ...query, format: 'csv' } }));
    return EXIT.done;
  }
  const usage = await connection.get<Usage>('/v1/usage', query);
  const rows = usage.data.map(({ group, requests, credits }) => [group, requests, credits]);
  print(options, usage, () => table([usage.group_by, 'requests', 'credits'], rows));
  return EXIT.done;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly disabled: boolean;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly credit_limit: number | null;
  readonly credit_limit_reset: string | null;
  readonly credits_used: number;
}

/** The key that the command was given. */
export async function showKey(invocation: Invocation): Promise<number> {
  const key = await connect(invocation).get<Key>('/v1/key');
  print(invocation.options, key, () =>
    fields([
      ['id', key.id],
      ['name', key.name],
      ['made', moment(key.created_at)],
      ['expires', moment(key.expires_at)],
      ['credits used', key.credits_used],
      ['credit limit', key.credit_limit],
      ['per', key.credit_limit_reset],
    ]),
  );
  return EXIT.done;
}
