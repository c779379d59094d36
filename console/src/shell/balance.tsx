import { Group, Text, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useBalance } from '../api/account.ts';
import { Credits } from '../kit/values.tsx';
import { useSay } from '../text.tsx';

/** On every page: what can be spent, and what open work holds. */
export function Balance() {
  const say = useSay();
  const { data } = useBalance(true);
  if (data === undefined) return null;
  return (
    <Group gap="sm" wrap="nowrap">
      <Link to="/console/credits" style={{ textDecoration: 'none' }}>
        <VisuallyHidden>{say('shell.available')}</VisuallyHidden>
        <Text size="sm" fw={650} className="num" style={data.available <= 0 ? { color: 'var(--bad)' } : {}}>
          <Credits value={data.available} />
          <Text span inherit className="soft" visibleFrom="xs">
            {' '}
            {say('unit.credits')}
          </Text>
        </Text>
      </Link>
      {data.reserved > 0 && (
        <Link to="/console/jobs" style={{ textDecoration: 'none' }}>
          <Text size="xs" className="soft num" visibleFrom="sm">
            <Credits value={data.reserved} /> {say('shell.held')}
          </Text>
        </Link>
      )}
    </Group>
  );
}
