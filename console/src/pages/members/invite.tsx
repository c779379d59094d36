import { Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { OneTimeLink } from '../../api/schema.ts';
import { FormDialog } from '../../kit/dialog.tsx';
import { useSay } from '../../text.tsx';
import { ROLES } from './roles.ts';

interface InviteProps {
  readonly close: () => void;
  readonly done: (link: OneTimeLink) => void;
}

export function Invite({ close, done }: InviteProps) {
  const say = useSay();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('member');
  return (
    <FormDialog
      title={say('members.invite')}
      isOpen
      close={close}
      label={say('members.invite')}
      act={() => api<OneTimeLink>('/api/console/invitations', { method: 'POST', body: { email, role } })}
      done={done}
      changes={['/api/console/invitations']}
    >
      <TextInput
        type="email"
        label={say('members.email')}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Radio.Group label={say('members.role')} value={role} onChange={setRole}>
        <Stack gap="xs" mt="xs">
          {ROLES.map((value) => (
            <Radio
              key={value}
              value={value}
              label={say(`members.roles.${value}`)}
              description={say(`members.rolesAbout.${value}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}
