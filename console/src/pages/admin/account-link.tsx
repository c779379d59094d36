import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client.ts';
import type { Account } from '../../api/schema.ts';
import { Loading } from '../../kit/states.tsx';

const PATH = '/api/admin/accounts';
/** A page of accounts has at most so many; others are told by their id. */
const NAMES_MAX = 100;

/** The names of the newest accounts, by id. */
export function useAccountNames() {
  return useQuery({
    queryKey: [PATH, 'names'],
    queryFn: async ({ signal }) => {
      const { data } = await api<{ data: readonly Account[] }>(PATH, { query: { limit: NAMES_MAX }, signal });
      return new Map(data.map((account) => [account.id, account.name]));
    },
    staleTime: 60_000,
  });
}

/** A list that names accounts comes with their names, so that its rows do not change their height afterwards. */
export function WithAccountNames({ children }: { readonly children: ReactNode }) {
  return useAccountNames().isPending ? <Loading /> : children;
}

/** An account by its name, where it is among the newest, else by the end of its id. */
export function AccountLink({ id }: { readonly id: string }) {
  const name = useAccountNames().data?.get(id);
  return (
    <Link to={`/console/admin/accounts/${id}` as never} title={id} className={name === undefined ? 'mono' : undefined}>
      {name ?? `…${id.slice(-8)}`}
    </Link>
  );
}
