import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Grant } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { State } from '../../../kit/badge.tsx';
import { FormButton } from '../../../kit/form-button.tsx';
import { dayOf, endOfDay } from '../../../kit/format.ts';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Credits, Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';

/** What the account was given, what is left of each grant, and when that goes. */
export function AccountGrants({ accountId }: { readonly accountId: string }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const pages = usePages<Grant>(`${ACCOUNTS_PATH}/${accountId}/grants`, (grant) => grant.id);
  return (
    <Paged pages={pages} empty={say('account.noGrants')}>
      {(rows) => (
        <Table
          label={say('account.grants')}
          rows={rows}
          keyOf={(grant) => grant.id}
          columns={[
            { label: say('account.given'), cell: (grant) => <Time at={grant.created_at} /> },
            { label: say('account.source'), cell: (grant) => <Source grant={grant} /> },
            { label: say('account.amount'), end: true, cell: (grant) => <Credits value={grant.amount} /> },
            { label: say('account.remaining'), end: true, cell: (grant) => <Remaining grant={grant} /> },
            {
              label: say('account.expires'),
              cell: (grant) =>
                grant.expires_at === null ? (
                  <span className="soft">{say('account.never')}</span>
                ) : (
                  <Time at={grant.expires_at} />
                ),
            },
            ...(mayChange
              ? [{ label: say('account.actions'), cell: (grant: Grant) => <Correct grant={grant} /> }]
              : []),
          ]}
        />
      )}
    </Paged>
  );
}

function Source({ grant }: { readonly grant: Grant }) {
  return (
    <>
      {grant.source}
      {grant.reference !== null && (
        <Text size="xs" className="soft mono">
          {grant.reference}
        </Text>
      )}
    </>
  );
}

function Remaining({ grant }: { readonly grant: Grant }) {
  const say = useSay();
  if (grant.amount < 0) return <State tone="soft">{say('account.takenBack')}</State>;
  return <Credits value={grant.remaining} />;
}

/** When it expires, its source and its reference; never its amount. */
function Correct({ grant }: { readonly grant: Grant }) {
  const say = useSay();
  const [expires, setExpires] = useState(grant.expires_at === null ? '' : dayOf(grant.expires_at));
  const [source, setSource] = useState(grant.source);
  const [reference, setReference] = useState(grant.reference ?? '');
  const [reason, setReason] = useState('');
  if (grant.amount < 0) return null;
  const isMoved = expires !== (grant.expires_at === null ? '' : dayOf(grant.expires_at));
  return (
    <FormButton
      label={say('account.correct')}
      title={say('account.correctTitle')}
      submitLabel={say('action.save')}
      changes={[ACCOUNTS_PATH]}
      act={() =>
        api<Grant>(`/api/admin/grants/${grant.id}`, {
          method: 'PATCH',
          body: {
            source,
            ...(isMoved ? { expires_at: expires === '' ? null : endOfDay(expires) } : {}),
            ...(reference === '' ? {} : { reference }),
            ...(reason === '' ? {} : { reason }),
          },
        })
      }
    >
      <TextInput
        label={say('account.expires')}
        description={say('account.expiresAbout')}
        type="date"
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
      <TextInput
        label={say('account.source')}
        value={source}
        onChange={(event) => setSource(event.currentTarget.value)}
        required
      />
      <TextInput
        label={say('account.reference')}
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
      <TextInput
        label={say('account.reason')}
        description={say('account.reasonAbout')}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormButton>
  );
}
