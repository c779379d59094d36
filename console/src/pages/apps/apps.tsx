import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { OauthGrant } from '../../api/schema.ts';
import { useMay, useSignedIn } from '../../api/session.ts';
import { Confirm } from '../../kit/confirm.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { LimitBar } from '../../kit/limit-bar.tsx';
import { LimitFields, limitBody, limitDraft } from '../../kit/limit-fields.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { type TextKey, useSay } from '../../text.tsx';

const PATH = '/api/console/oauth-grants';

/** The apps that may act for the account, what they may spend, and the way to take that back. */
export function Apps() {
  const say = useSay();
  const pages = usePages<OauthGrant>(PATH, ({ id }) => id);
  return (
    <Page title={say('apps.title')} about={say('apps.about')}>
      <Panel flush>
        <Paged pages={pages} empty={say('apps.none')}>
          {(rows) => (
            <Table
              label={say('apps.title')}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { label: say('apps.app'), cell: (grant) => <App grant={grant} /> },
                { label: say('apps.may'), cell: ({ scopes }) => <Scopes scopes={scopes} /> },
                {
                  label: say('apps.limit'),
                  cell: ({ credits_used, credit_limit_used, credit_limit, credit_limit_reset }) => (
                    <LimitBar
                      used={credit_limit_used ?? credits_used}
                      limit={credit_limit}
                      reset={credit_limit_reset}
                    />
                  ),
                },
                { label: say('apps.lastUsed'), cell: (grant) => <LastUsed grant={grant} /> },
                { label: say('apps.actions'), cell: (grant) => <Actions grant={grant} /> },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

/** An owner sees what others have allowed, too, and by whom. */
function App({ grant: { client, person, created_at } }: { readonly grant: OauthGrant }) {
  const say = useSay();
  const isOthers = useSignedIn().person.id !== person.id;
  return (
    <>
      <Text size="sm" fw={600}>
        {client.home_page === null ? client.name : <a href={client.home_page}>{client.name}</a>}
      </Text>
      <Text size="xs" className="soft">
        {isOthers && `${person.email} · `}
        {say('apps.since')} <Time at={created_at} />
      </Text>
    </>
  );
}

const SCOPES: Readonly<Record<string, TextKey>> = {
  'user:inference:image': 'apps.scope.image',
  'user:inference:video': 'apps.scope.video',
  'user:inference:audio': 'apps.scope.audio',
  'user:inference:chat': 'apps.scope.chat',
  'user:jobs': 'apps.scope.jobs',
  'user:files': 'apps.scope.files',
  'user:credits': 'apps.scope.credits',
};

function Scopes({ scopes }: { readonly scopes: readonly string[] }) {
  const say = useSay();
  const words = scopes.map((scope) => {
    const key = SCOPES[scope];
    return key === undefined ? scope : say(key);
  });
  return <Text size="sm">{words.join(' · ')}</Text>;
}

function LastUsed({ grant: { id, last_used_at } }: { readonly grant: OauthGrant }) {
  const say = useSay();
  if (last_used_at === null) return <span className="soft">{say('keys.neverUsed')}</span>;
  return (
    <Link to="/console/activity" search={{ key: id }}>
      <Time at={last_used_at} />
    </Link>
  );
}

/** Everyone takes back what they allowed; to change a limit is a member's. */
function Actions({ grant }: { readonly grant: OauthGrant }) {
  const say = useSay();
  const mayChange = useMay('member');
  const [isEditing, setEditing] = useState(false);
  return (
    <Group gap="xs" wrap="nowrap">
      {mayChange && (
        <Button variant="default" size="compact-sm" onClick={() => setEditing(true)}>
          {say('apps.limit')}
        </Button>
      )}
      <Confirm
        label={say('apps.revoke')}
        title={say('apps.revokeTitle', { name: grant.client.name })}
        act={() => api(`${PATH}/${grant.id}`, { method: 'DELETE' })}
        changes={[PATH]}
      >
        {say('apps.revokeAbout')}
      </Confirm>
      {isEditing && <EditLimit grant={grant} close={() => setEditing(false)} />}
    </Group>
  );
}

function EditLimit({ grant, close }: { readonly grant: OauthGrant; readonly close: () => void }) {
  const say = useSay();
  const [draft, setDraft] = useState(() => limitDraft(grant));
  return (
    <FormDialog
      title={say('apps.limitTitle', { name: grant.client.name })}
      isOpen
      close={close}
      label={say('action.save')}
      act={() => api(`${PATH}/${grant.id}`, { method: 'PATCH', body: limitBody(draft) })}
      changes={[PATH]}
    >
      <LimitFields draft={draft} change={setDraft} />
    </FormDialog>
  );
}
