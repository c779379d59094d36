import { Button, Group, Modal, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { NewApiKey } from '../../api/schema.ts';
import { useRefresh } from '../../kit/confirm.tsx';
import { Problem } from '../../kit/states.tsx';
import { useSay } from '../../text.tsx';

interface NewKeyProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (made: NewApiKey) => void;
}

const DAY_SECONDS = 86_400;
const EXPIRIES = ['', '1', '7', '30', '90', '365'] as const;

export function NewKey({ isOpen, close, done }: NewKeyProps) {
  const say = useSay();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [days, setDays] = useState<string | null>('');
  const [limit, setLimit] = useState<string | number>('');
  const [reset, setReset] = useState<string | null>('');
  const make = useMutation({
    mutationFn: () =>
      api<NewApiKey>('/api/console/keys', {
        method: 'POST',
        body: {
          name,
          ...(days ? { expires_at: Math.floor(Date.now() / 1000) + Number(days) * DAY_SECONDS } : {}),
          ...(limit === '' ? {} : { credit_limit: Number(limit), credit_limit_reset: reset || null }),
        },
      }),
    onSuccess: async (made) => {
      done(made);
      setName('');
      close();
      await refresh(['/api/console/keys']);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={say('keys.make')}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={say('keys.name')}
            description={say('keys.nameAbout')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maxLength={100}
            required
            data-autofocus
          />
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
          <Group grow align="flex-start">
            <NumberInput
              label={say('keys.limit')}
              description={say('keys.limitAbout')}
              value={limit}
              onChange={setLimit}
              min={0}
              decimalScale={6}
            />
            <Select
              label={say('keys.reset')}
              description={say('keys.resetAbout')}
              value={reset}
              onChange={setReset}
              disabled={limit === ''}
              data={[
                { value: '', label: say('keys.resetNever') },
                { value: 'day', label: say('limit.per.day') },
                { value: 'week', label: say('limit.per.week') },
                { value: 'month', label: say('limit.per.month') },
              ]}
              allowDeselect={false}
            />
          </Group>
          {make.error !== null && <Problem error={make.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {say('action.cancel')}
            </Button>
            <Button type="submit" loading={make.isPending}>
              {say('keys.make')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
