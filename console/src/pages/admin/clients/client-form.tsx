import { Checkbox, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { OauthClient } from '../../../api/schema.ts';
import { useSay } from '../../../text.tsx';

export const CLIENTS_PATH = '/api/admin/oauth/clients';

const SCOPES = [
  'user:inference:chat',
  'user:inference:image',
  'user:inference:video',
  'user:inference:audio',
  'user:jobs',
  'user:files',
  'user:credits',
] as const satisfies OauthClient['scopes'];

export interface ClientDraft {
  readonly name: string;
  /** One in each line. */
  readonly redirectUris: string;
  readonly scopes: readonly string[];
  readonly homePage: string;
  readonly logo: string;
  readonly confidential: boolean;
  readonly deviceFlow: boolean;
  readonly introspection: boolean;
}

export function useClientDraft(client?: OauthClient) {
  return useState<ClientDraft>({
    name: client?.name ?? '',
    redirectUris: client?.redirect_uris.join('\n') ?? '',
    scopes: client?.scopes ?? [],
    homePage: client?.home_page ?? '',
    logo: client?.logo ?? '',
    confidential: client?.confidential ?? false,
    deviceFlow: client?.device_flow ?? false,
    introspection: client?.introspection ?? false,
  });
}

/** The body of a registration; a change leaves out `confidential`, which stays as it was made. */
export function bodyOf(draft: ClientDraft) {
  return {
    name: draft.name,
    redirect_uris: draft.redirectUris.split('\n').flatMap((line) => line.trim() || []),
    scopes: draft.scopes,
    home_page: draft.homePage || null,
    logo: draft.logo || null,
    device_flow: draft.deviceFlow,
    introspection: draft.introspection,
  };
}

interface ClientFieldsProps {
  readonly draft: ClientDraft;
  readonly change: (draft: ClientDraft) => void;
  readonly isNew: boolean;
}

export function ClientFields({ draft, change, isNew }: ClientFieldsProps) {
  const say = useSay();
  const set = (part: Partial<ClientDraft>) => change({ ...draft, ...part });
  return (
    <>
      <TextInput
        label={say('clients.name')}
        description={say('clients.nameAbout')}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        required
        data-autofocus
      />
      <Textarea
        label={say('clients.redirects')}
        description={say('clients.redirectsAbout')}
        value={draft.redirectUris}
        onChange={(event) => set({ redirectUris: event.currentTarget.value })}
        autosize
        minRows={2}
        required
      />
      <Checkbox.Group
        label={say('clients.scopes')}
        description={say('clients.scopesAbout')}
        value={[...draft.scopes]}
        onChange={(scopes) => set({ scopes })}
      >
        <Stack gap={6} mt="xs">
          {SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={<span className="mono">{scope}</span>} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        label={say('clients.homePage')}
        type="url"
        value={draft.homePage}
        onChange={(event) => set({ homePage: event.currentTarget.value })}
      />
      <TextInput
        label={say('clients.logo')}
        type="url"
        value={draft.logo}
        onChange={(event) => set({ logo: event.currentTarget.value })}
      />
      {isNew && (
        <Switch
          label={say('clients.confidential')}
          description={say('clients.confidentialAbout')}
          checked={draft.confidential}
          onChange={(event) => set({ confidential: event.currentTarget.checked })}
        />
      )}
      <Switch
        label={say('clients.deviceFlow')}
        description={say('clients.deviceFlowAbout')}
        checked={draft.deviceFlow}
        onChange={(event) => set({ deviceFlow: event.currentTarget.checked })}
      />
      <Switch
        label={say('clients.introspection')}
        description={say('clients.introspectionAbout')}
        checked={draft.introspection}
        onChange={(event) => set({ introspection: event.currentTarget.checked })}
      />
    </>
  );
}
