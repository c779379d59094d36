import { Select } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { NewApiKey } from '../../api/schema.ts';
import { FormDialog } from '../../kit/dialog.tsx';
import { useSay } from '../../text.tsx';
import { bodyOf, KeyFields, NEW_KEY } from './key-fields.tsx';

interface NewKeyProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (made: NewApiKey) => void;
}

const DAY_SECONDS = 86_400;
const EXPIRIES = ['', '1', '7', '30', '90', '365'] as const;

export function NewKey({ isOpen, close, done }: NewKeyProps) {
  const say = useSay();
  const [draft, setDraft] = useState(NEW_KEY);
  const [days, setDays] = useState<string | null>('');
  const make = () =>
    api<NewApiKey>('/api/console/keys', {
      method: 'POST',
      body: {
        ...bodyOf(draft),
        ...(days ? { expires_at: Math.floor(Date.now() / 1000) + Number(days) * DAY_SECONDS } : {}),
      },
    });
  const finish = (made: NewApiKey) => {
    setDraft(NEW_KEY);
    done(made);
  };
  return (
    <FormDialog
      title={say('keys.make')}
      isOpen={isOpen}
      close={close}
      label={say('keys.make')}
      act={make}
      done={finish}
      changes={['/api/console/keys']}
    >
      <KeyFields draft={draft} change={setDraft} />
      <Select
        label={say('keys.expires')}
        value={days}
        onChange={setDays}
        data={EXPIRIES.map((value) => ({
          value,
          label: value === '' ? say('keys.never') : say('keys.inDays', { days: value }),
        }))}
        allowDeselect={false}
      />
    </FormDialog>
  );
}
