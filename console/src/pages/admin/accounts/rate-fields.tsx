import { Group, NumberInput } from '@mantine/core';
import { useSay } from '../../../text.tsx';

export interface Rates {
  readonly rpm: string | number;
  readonly concurrency: string | number;
}

/** Requests per minute and at once; empty is the default. */
export function RateFields({ rates, change }: { readonly rates: Rates; readonly change: (rates: Rates) => void }) {
  const say = useSay();
  return (
    <Group grow align="flex-start">
      {(['rpm', 'concurrency'] as const).map((name) => (
        <NumberInput
          key={name}
          label={say(`account.${name}`)}
          description={say('account.limitAbout')}
          value={rates[name]}
          onChange={(value) => change({ ...rates, [name]: value })}
          min={1}
          allowDecimal={false}
        />
      ))}
    </Group>
  );
}
