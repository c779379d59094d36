import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { NewOauthClient, OauthClient } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { FormButton } from '../../../kit/form-button.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { ShownOnce } from '../../../kit/shown-once.tsx';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { bodyOf, CLIENTS_PATH, ClientFields, useClientDraft } from './client-form.tsx';

/** The applications of others that may ask people for access. */
export function Clients() {
  const say = useSay();
  const mayChange = useMayOperate();
  const pages = usePages<OauthClient>(CLIENTS_PATH, (client) => client.id);
  const [made, setMade] = useState<NewOauthClient>();
  const register = mayChange ? <Register done={setMade} /> : undefined;
  return (
    <Page title={say('clients.title')} about={say('clients.about')} actions={register}>
      {made?.client_secret !== undefined && (
        <ShownOnce
          title={say('clients.secretTitle', { name: made.name })}
          about={say('clients.secretAbout', { id: made.id })}
          secret={made.client_secret}
          testId="shown-once"
        />
      )}
      <Panel flush>
        <Paged pages={pages} empty={say('clients.none')}>
          {(rows) => (
            <Table
              label={say('clients.title')}
              rows={rows}
              keyOf={(client) => client.id}
              columns={[
                { label: say('clients.name'), cell: (client) => <Name client={client} /> },
                { label: say('clients.kind'), cell: (client) => say(clientKind(client)) },
                {
                  label: say('clients.scopes'),
                  cell: (client) => <span className="mono">{client.scopes.map(shortScope).join(', ')}</span>,
                },
                { label: say('clients.registered'), cell: (client) => <Time at={client.created_at} /> },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

export function clientKind({ confidential }: OauthClient) {
  return confidential ? 'clients.kindConfidential' : 'clients.kindPublic';
}

function shortScope(scope: string): string {
  return scope.split(':').at(-1) ?? scope;
}

function Name({ client }: { readonly client: OauthClient }) {
  return (
    <>
      <Link to={`/console/admin/clients/${client.id}` as never}>
        <Text component="span" fw={600} size="sm">
          {client.name}
        </Text>
      </Link>
      <Text size="xs" className="soft mono">
        {client.id}
      </Text>
    </>
  );
}

function Register({ done }: { readonly done: (made: NewOauthClient) => void }) {
  const say = useSay();
  const [draft, setDraft] = useClientDraft();
  const body = { ...bodyOf(draft), confidential: draft.confidential };
  return (
    <FormButton
      isMain
      label={say('clients.register')}
      title={say('clients.register')}
      changes={[CLIENTS_PATH]}
      act={() => api<NewOauthClient>(CLIENTS_PATH, { method: 'POST', body })}
      done={done}
    >
      <ClientFields draft={draft} change={setDraft} isNew />
    </FormButton>
  );
}
