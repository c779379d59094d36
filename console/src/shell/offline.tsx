import { Text } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { useSay } from '../text.tsx';

/** Says that what is shown may be old. Queries go on by themselves when the network is back. */
export function Offline() {
  const say = useSay();
  const { online } = useNetwork();
  if (online) return null;
  return (
    <Text role="status" size="sm" fw={600} mb="md" style={{ color: 'var(--warn)' }}>
      {say('state.offline')}
    </Text>
  );
}
