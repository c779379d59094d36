import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, Refusal, rememberCsrfToken } from './client.ts';
import type { SignedIn } from './schema.ts';

/** What the gateway saw when it sent this page: without a cookie there is no session to ask for. */
const hasCookie = document.querySelector<HTMLMetaElement>('meta[name=session-cookie]')?.content !== 'none';

/** Who is signed in; null for a visitor. */
const sessionQuery = queryOptions({
  queryKey: ['/api/console/session'],
  queryFn: async ({ signal }): Promise<SignedIn | null> => {
    if (!hasCookie) return null;
    try {
      const signedIn = await api<SignedIn>('/api/console/session', { signal });
      rememberCsrfToken(signedIn.csrf_token);
      return signedIn;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_signed_in') return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export function useSession(): SignedIn | null | undefined {
  return useQuery(sessionQuery).data;
}

/** For pages that only a signed-in person reaches: the shell shows them to no one else. */
export function useSignedIn(): SignedIn {
  const session = useSession();
  if (session === null || session === undefined) throw new Error('a page for signed-in people was shown to a visitor');
  return session;
}

const RANKS = ['viewer', 'member', 'owner'] as const;

export function useMay(role: (typeof RANKS)[number]): boolean {
  const { account } = useSignedIn();
  return account !== null && RANKS.indexOf(account.role) >= RANKS.indexOf(role);
}

export function isOperator({ person }: SignedIn): boolean {
  return person.operator_role !== null;
}

/** An auditor sees what an operator sees, and changes nothing. */
export function useMayOperate(): boolean {
  return useSignedIn().person.operator_role === 'operator';
}
