import { ActionIcon, Group, Menu, Switch } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKeyRecord, NewApiKey } from '../../api/schema.ts';
import { Confirm, useRefresh } from '../../kit/confirm.tsx';
import { useSay } from '../../text.tsx';
import { EditKey, RollKey } from './key-dialogs.tsx';

const PATH = '/api/console/keys';

interface KeyActionsProps {
  readonly apiKey: ApiKeyRecord;
  /** For a key that is shown this once. */
  readonly show: (made: NewApiKey) => void;
}

/** On and off at once; the rest in a menu. */
export function KeyActions({ apiKey, show }: KeyActionsProps) {
  const say = useSay();
  const refresh = useRefresh();
  const [dialog, setDialog] = useState<'edit' | 'roll'>();
  const path = `${PATH}/${apiKey.id}`;
  const change = useMutation({
    mutationFn: (disabled: boolean) => api(path, { method: 'PATCH', body: { disabled } }),
    onSuccess: () => refresh([PATH]),
  });
  const close = () => setDialog(undefined);
  return (
    <Group gap="xs" wrap="nowrap">
      <Switch
        checked={!apiKey.disabled}
        disabled={change.isPending}
        onChange={() => change.mutate(!apiKey.disabled)}
        aria-label={say('keys.enabledFor', { name: apiKey.name })}
      />
      <More apiKey={apiKey} open={setDialog} />
      <Confirm
        label={say('action.delete')}
        title={say('keys.deleteTitle', { name: apiKey.name })}
        act={() => api(path, { method: 'DELETE' })}
        changes={[PATH]}
      >
        {say('keys.deleteAbout')}
      </Confirm>
      {dialog === 'edit' && <EditKey apiKey={apiKey} close={close} />}
      {dialog === 'roll' && <RollKey apiKey={apiKey} close={close} done={show} />}
    </Group>
  );
}

interface MoreProps {
  readonly apiKey: ApiKeyRecord;
  readonly open: (dialog: 'edit' | 'roll') => void;
}

function More({ apiKey, open }: MoreProps) {
  const say = useSay();
  const navigate = useNavigate();
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" aria-label={say('keys.moreFor', { name: apiKey.name })}>
          ⋯
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => open('edit')}>{say('action.edit')}</Menu.Item>
        <Menu.Item onClick={() => open('roll')}>{say('keys.roll')}</Menu.Item>
        <Menu.Item onClick={() => void navigate({ to: '/console/activity', search: { key: apiKey.id } })}>
          {say('nav.activity')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
