import { Link } from '@tanstack/react-router';
import { useBalance } from '../../api/account.ts';
import { Figure, Figures } from '../../kit/figures.tsx';
import { Page } from '../../kit/page.tsx';
import { Problem } from '../../kit/states.tsx';
import { Credits } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Spending } from './spending.tsx';
import { useSpentByDay } from './usage.ts';
import { Warnings } from './warnings.tsx';

/** What the account has, holds and spends. */
export function Overview() {
  const say = useSay();
  const balance = useBalance(true);
  const spent = useSpentByDay();
  const today = new Date().toISOString().slice(0, 10);
  const available = balance.data?.available;
  const isNew = balance.data?.spent === 0;
  return (
    <Page title={say('overview.title')} about={say('overview.about')}>
      <Warnings balance={balance.data} />
      {balance.error !== null && <Problem error={balance.error} retry={() => void balance.refetch()} />}
      <Figures>
        <Figure
          label={say('overview.available')}
          value={<Credits value={available} />}
          hint={say('unit.credits')}
          {...(available !== undefined && available <= 0 ? { tone: 'bad' as const } : {})}
        />
        <Figure
          label={say('overview.held')}
          value={<Credits value={balance.data?.reserved} />}
          hint={<Link to="/console/jobs">{say('overview.heldAbout')}</Link>}
        />
        <Figure
          label={say('overview.today')}
          value={<Credits value={spent?.since(today)} />}
          hint={say('overview.todayAbout')}
        />
        <Figure
          label={say('overview.month')}
          value={<Credits value={spent?.since(`${today.slice(0, 7)}-01`)} />}
          hint={say('overview.monthAbout')}
        />
      </Figures>
      {isNew ? <FirstSteps /> : <Spending />}
    </Page>
  );
}
