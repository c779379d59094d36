import type { Account } from '../../../api/schema.ts';
import { State } from '../../../kit/badge.tsx';
import { useSay } from '../../../text.tsx';

/** One word for how an account stands: suspended, empty, warned, or in order. */
export function AccountStatus({ account }: { readonly account: Account }) {
  const say = useSay();
  if (account.status === 'suspended') return <State tone="bad">{say('accounts.suspended')}</State>;
  if (account.balance <= 0) return <State tone="warn">{say('accounts.empty')}</State>;
  if (account.warnings.length > 0) return <State tone="warn">{say('accounts.warned')}</State>;
  return <State tone="good">{say('accounts.active')}</State>;
}
