import { useBalance } from '../api/account.ts';
import { Figure, Figures } from '../kit/figures.tsx';
import { Page } from '../kit/page.tsx';
import { Loaded } from '../kit/states.tsx';
import { Credits } from '../kit/values.tsx';
import { useSay } from '../text.tsx';

export function Overview() {
  const say = useSay();
  const balance = useBalance(true);
  return (
    <Page title={say('overview.title')} about={say('overview.about')}>
      <Loaded query={balance}>
        {({ available, reserved, spent }) => (
          <Figures>
            <Figure
              label={say('overview.available')}
              value={<Credits value={available} />}
              hint={say('unit.credits')}
            />
            <Figure
              label={say('overview.held')}
              value={<Credits value={reserved} />}
              hint={say('overview.heldAbout')}
            />
            <Figure label={say('overview.spent')} value={<Credits value={spent} />} hint={say('overview.spentAbout')} />
          </Figures>
        )}
      </Loaded>
    </Page>
  );
}
