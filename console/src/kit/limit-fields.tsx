import { Group, NumberInput, Select } from '@mantine/core';
import { useSay } from '../text.tsx';

type Reset = 'day' | 'week' | 'month';

/** A credit limit as it stands in a form; empty is none. */
export interface LimitDraft {
  readonly limit: string | number;
  readonly reset: Reset | '';
}

/** As keys and apps take it. */
export function limitBody({ limit, reset }: LimitDraft) {
  return { credit_limit: limit === '' ? null : Number(limit), credit_limit_reset: limit === '' ? null : reset || null };
}

export function limitDraft({ credit_limit, credit_limit_reset }: ReturnType<typeof limitBody>): LimitDraft {
  return { limit: credit_limit ?? '', reset: credit_limit_reset ?? '' };
}

interface LimitFieldsProps {
  readonly draft: LimitDraft;
  readonly change: (draft: LimitDraft) => void;
}

/** How much may be spent, and when that starts again. */
export function LimitFields({ draft, change }: LimitFieldsProps) {
  const say = useSay();
  return (
    <Group grow align="flex-start">
      <NumberInput
        label={say('limit.title')}
        description={say('limit.about')}
        value={draft.limit}
        onChange={(limit) => change({ ...draft, limit })}
        min={0}
        decimalScale={6}
        hideControls
      />
      <Select
        label={say('limit.reset')}
        description={say('limit.resetAbout')}
        value={draft.reset}
        onChange={(reset) => change({ ...draft, reset: reset ?? '' })}
        disabled={draft.limit === ''}
        data={[
          { value: '', label: say('limit.never') },
          { value: 'day', label: say('limit.per.day') },
          { value: 'week', label: say('limit.per.week') },
          { value: 'month', label: say('limit.per.month') },
        ]}
        allowDeselect={false}
      />
    </Group>
  );
}
