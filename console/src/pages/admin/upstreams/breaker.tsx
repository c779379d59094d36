import { Text } from '@mantine/core';
import type { Breaker } from '../../../api/schema.ts';
import { State, type Tone } from '../../../kit/badge.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';

const TONES: Readonly<Record<Breaker['state'], Tone>> = { closed: 'good', open: 'bad', half_open: 'warn' };

/** A breaker's state in a word. One that is closed after strikes is on its way to open. */
export function BreakerState({ health }: { readonly health: Breaker }) {
  const say = useSay();
  if (health.state === 'closed' && health.strikes > 0) {
    return <State tone="warn">{say('upstreams.strikes', { strikes: health.strikes })}</State>;
  }
  return <State tone={TONES[health.state]}>{say(`upstreams.states.${health.state}`)}</State>;
}

/** The last fault in the upstream's own words, and when it is asked again. */
export function LastFault({ health }: { readonly health: Breaker }) {
  const say = useSay();
  if (health.last_fault === null) return <span className="soft">–</span>;
  return (
    <>
      <Text size="sm">
        <span className="mono">{health.last_fault}</span> · <Time at={health.last_fault_at} />
        {health.next_probe_at !== null && (
          <>
            {' · '}
            {say('upstreams.nextProbe')} <Time at={health.next_probe_at} />
          </>
        )}
      </Text>
      {health.last_detail !== null && (
        <Text size="xs" className="soft" lineClamp={4}>
          {health.last_detail}
        </Text>
      )}
    </>
  );
}
