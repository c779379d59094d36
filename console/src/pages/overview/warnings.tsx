import { Link } from '@tanstack/react-router';
import { useKeys } from '../../api/account.ts';
import type { CreditBalance } from '../../api/schema.ts';
import { creditsText } from '../../kit/format.ts';
import { Notice } from '../../kit/notice.tsx';
import { useText } from '../../text.tsx';

const NEAR_LIMIT = 0.9;

/** What will stop calls soon, or does: an empty balance, and keys that are near their limits. */
export function Warnings({ balance }: { readonly balance: CreditBalance | undefined }) {
  const { say, language } = useText();
  const keys = useKeys().data?.data ?? [];
  const near = keys.flatMap(({ id, name, credit_limit: limit, credit_limit_used: used }) =>
    limit !== null && used !== null && used >= NEAR_LIMIT * limit ? [{ id, name, limit, used }] : [],
  );
  return (
    <>
      {balance !== undefined && balance.available <= 0 && (
        <Notice tone="bad">
          {say('overview.empty')} <Link to="/console/credits">{say('nav.credits')}</Link>
        </Notice>
      )}
      {near.map(({ id, name, limit, used }) => (
        <Notice key={id} tone="warn">
          {say('overview.nearLimit', {
            name,
            used: creditsText(used, language),
            limit: creditsText(limit, language),
          })}{' '}
          <Link to="/console/keys">{say('nav.keys')}</Link>
        </Notice>
      ))}
    </>
  );
}
