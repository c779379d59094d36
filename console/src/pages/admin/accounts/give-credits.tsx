import { NumberInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Account, Grant } from '../../../api/schema.ts';
import { FormButton } from '../../../kit/form-button.tsx';
import { endOfDay } from '../../../kit/format.ts';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';

const CREDIT_DECIMALS = 6;

/** Gives credits, once per reference however often it is sent. */
export function GiveCredits({ account }: { readonly account: Account }) {
  const say = useSay();
  const [credits, setCredits] = useState<string | number>('');
  const [expires, setExpires] = useState('');
  const [source, setSource] = useState('');
  const [reference, setReference] = useState('');
  return (
    <FormButton
      isMain
      label={say('account.give')}
      title={say('account.giveTitle', { name: account.name })}
      changes={[ACCOUNTS_PATH, '/api/console/credits']}
      act={() =>
        api<Grant>(`${ACCOUNTS_PATH}/${account.id}/grants`, {
          method: 'POST',
          body: {
            credits: Number(credits),
            ...(expires === '' ? {} : { expires_at: endOfDay(expires) }),
            ...(source === '' ? {} : { source }),
            ...(reference === '' ? {} : { reference }),
          },
        })
      }
      done={() => {
        setCredits('');
        setReference('');
      }}
    >
      <NumberInput
        label={say('account.credits')}
        value={credits}
        onChange={setCredits}
        min={0}
        decimalScale={CREDIT_DECIMALS}
        required
        data-autofocus
      />
      <TextInput
        label={say('account.expires')}
        description={say('account.expiresAbout')}
        type="date"
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
      <TextInput
        label={say('account.source')}
        description={say('account.sourceAbout')}
        value={source}
        onChange={(event) => setSource(event.currentTarget.value)}
      />
      <TextInput
        label={say('account.reference')}
        description={say('account.referenceAbout')}
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
    </FormButton>
  );
}

/** Takes unspent credits back. All of them or none; why is in the audit. */
export function TakeCreditsBack({ account }: { readonly account: Account }) {
  const say = useSay();
  const [credits, setCredits] = useState<string | number>('');
  const [reason, setReason] = useState('');
  return (
    <FormButton
      label={say('account.take')}
      title={say('account.takeTitle', { name: account.name })}
      changes={[ACCOUNTS_PATH, '/api/console/credits']}
      act={() =>
        api<Grant>(`${ACCOUNTS_PATH}/${account.id}/grants`, {
          method: 'POST',
          body: { credits: -Number(credits), reason },
        })
      }
      done={() => setCredits('')}
    >
      <NumberInput
        label={say('account.credits')}
        description={say('account.takeAbout')}
        value={credits}
        onChange={setCredits}
        min={0}
        decimalScale={CREDIT_DECIMALS}
        required
        data-autofocus
      />
      <TextInput
        label={say('account.reason')}
        description={say('account.reasonAbout')}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        required
      />
    </FormButton>
  );
}
