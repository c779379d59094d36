import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import type { OauthClient, OauthGrant } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { Confirm } from '../../../kit/confirm.tsx';
import { Fact, Facts } from '../../../kit/facts.tsx';
import { FormButton } from '../../../kit/form-button.tsx';
import { LimitBar } from '../../../kit/limit-bar.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { bodyOf, CLIENTS_PATH, ClientFields, useClientDraft } from './client-form.tsx';
import { clientKind } from './clients.tsx';

/** One application: what is registered of it, and who allowed it what. */
export function Client() {
  const { clientId = '' } = useParams({ strict: false }) as { readonly clientId?: string };
  const path = `${CLIENTS_PATH}/${clientId}`;
  const client = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<OauthClient>(path, { signal }) });
  return <Loaded query={client}>{(found) => <ClientPage client={found} />}</Loaded>;
}

function ClientPage({ client }: { readonly client: OauthClient }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const yesNo = (is: boolean) => say(is ? 'clients.yes' : 'clients.no');
  return (
    <Page
      title={client.name}
      about={<span className="mono">{client.id}</span>}
      actions={mayChange ? <Actions client={client} /> : undefined}
    >
      <Panel>
        <Facts>
          <Fact label={say('clients.kind')}>{say(clientKind(client))}</Fact>
          <Fact label={say('clients.redirects')}>
            <Lines lines={client.redirect_uris} />
          </Fact>
          <Fact label={say('clients.scopes')}>
            <Lines lines={client.scopes} />
          </Fact>
          <Fact label={say('clients.homePage')}>{client.home_page ?? '–'}</Fact>
          <Fact label={say('clients.deviceFlow')}>{yesNo(client.device_flow)}</Fact>
          <Fact label={say('clients.introspection')}>{yesNo(client.introspection)}</Fact>
          <Fact label={say('clients.registered')}>
            <Time at={client.created_at} />
          </Fact>
        </Facts>
      </Panel>
      <Panel title={say('clients.grants')} flush>
        <Grants clientId={client.id} />
      </Panel>
    </Page>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return lines.map((line) => (
    <div key={line} className="mono">
      {line}
    </div>
  ));
}

function Actions({ client }: { readonly client: OauthClient }) {
  const say = useSay();
  const navigate = useNavigate();
  const [draft, setDraft] = useClientDraft(client);
  const path = `${CLIENTS_PATH}/${client.id}`;
  return (
    <>
      <FormButton
        label={say('clients.edit')}
        title={say('clients.editTitle', { name: client.name })}
        submitLabel={say('action.save')}
        changes={[CLIENTS_PATH]}
        act={() => api<OauthClient>(path, { method: 'PATCH', body: bodyOf(draft) })}
      >
        <ClientFields draft={draft} change={setDraft} isNew={false} />
      </FormButton>
      <Confirm
        label={say('action.delete')}
        title={say('clients.deleteTitle', { name: client.name })}
        act={async () => {
          await api(path, { method: 'DELETE' });
          await navigate({ to: '/console/admin/clients' });
        }}
        changes={[]}
      >
        {say('clients.deleteAbout')}
      </Confirm>
    </>
  );
}

function Grants({ clientId }: { readonly clientId: string }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const path = '/api/admin/oauth/grants';
  const pages = usePages<OauthGrant>(path, (grant) => grant.id, { query: { client: clientId } });
  return (
    <Paged pages={pages} empty={say('clients.noGrants')}>
      {(rows) => (
        <Table
          label={say('clients.grants')}
          rows={rows}
          keyOf={(grant) => grant.id}
          columns={[
            { label: say('people.person'), cell: (grant) => grant.person.email },
            {
              label: say('clients.account'),
              cell: (grant) => (
                <Link to={`/console/admin/accounts/${grant.account}` as never} className="mono">
                  {grant.account}
                </Link>
              ),
            },
            {
              label: say('keys.limit'),
              cell: (grant) => (
                <LimitBar used={grant.credits_used} limit={grant.credit_limit} reset={grant.credit_limit_reset} />
              ),
            },
            { label: say('keys.lastUsed'), cell: (grant) => <Time at={grant.last_used_at} /> },
            ...(mayChange
              ? [
                  {
                    label: say('keys.actions'),
                    cell: (grant: OauthGrant) => (
                      <Confirm
                        label={say('clients.revoke')}
                        title={say('clients.revokeTitle', { email: grant.person.email })}
                        act={() => api(`${path}/${grant.id}`, { method: 'DELETE' })}
                        changes={[path]}
                      >
                        <Text component="span" size="sm">
                          {say('clients.revokeAbout')}
                        </Text>
                      </Confirm>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
    </Paged>
  );
}
