import { TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Account } from '../../../api/schema.ts';
import { FormButton } from '../../../kit/form-button.tsx';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';
import { RateFields, type Rates } from './rate-fields.tsx';

/** Name, routing groups, and the rates of the account's apps and console. */
export function EditAccount({ account }: { readonly account: Account }) {
  const say = useSay();
  const [name, setName] = useState(account.name);
  const [groups, setGroups] = useState<string[]>([...account.groups]);
  const [rates, setRates] = useState<Rates>({
    rpm: account.limits.rpm ?? '',
    concurrency: account.limits.concurrency ?? '',
  });
  const limits = { rpm: numberOrNull(rates.rpm), concurrency: numberOrNull(rates.concurrency) };
  return (
    <FormButton
      label={say('account.edit')}
      title={say('account.editTitle', { name: account.name })}
      submitLabel={say('action.save')}
      changes={[ACCOUNTS_PATH]}
      act={() => api(`${ACCOUNTS_PATH}/${account.id}`, { method: 'PATCH', body: { name, groups, limits } })}
    >
      <TextInput
        label={say('accounts.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        required
      />
      <TagsInput
        label={say('account.groups')}
        description={say('account.groupsAbout')}
        value={groups}
        onChange={setGroups}
      />
      <RateFields rates={rates} change={setRates} />
    </FormButton>
  );
}

/** An empty field is the deployment's default. */
function numberOrNull(value: string | number): number | null {
  return value === '' ? null : Number(value);
}
