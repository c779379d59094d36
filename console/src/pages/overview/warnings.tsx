import { Link } from '@tanstack/react-router';
import type { CreditBalance } from '../../api/schema.ts';
import { Notice } from '../../kit/notice.tsx';
import { useSay } from '../../text.tsx';

/** What will stop calls soon, or does. */
export function Warnings({ balance }: { readonly balance: CreditBalance | undefined }) {
  const say = useSay();
  if (balance === undefined || balance.available > 0) return null;
  return (
    <Notice tone="bad">
      {say('overview.empty')} <Link to="/console/credits">{say('nav.credits')}</Link>
    </Notice>
  );
}
