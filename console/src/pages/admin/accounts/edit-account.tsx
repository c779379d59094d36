import { Group, NumberInput, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Account } from '../../../api/schema.ts';
import { FormButton } from '../../../kit/form-button.tsx';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';

/** Name, routing groups, and the rates of the account's apps and console. */
export function EditAccount({ account }: { readonly account: Account }) {
  const say = useSay();
  const [name, setName] = useState(account.name);
  const [groups, setGroups] = useState<string[]>([...account.groups]);
  const [rpm, setRpm] = useState<string | number>(account.limits.rpm ?? '');
  const [concurrency, setConcurrency] = useState<string | number>(account.limits.concurrency ?? '');
  const limits = { rpm: numberOrNull(rpm), concurrency: numberOrNull(concurrency) };
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
      <Group grow align="flex-start">
        <NumberInput
          label={say('account.rpm')}
          description={say('account.limitAbout')}
          value={rpm}
          onChange={setRpm}
          min={1}
          allowDecimal={false}
        />
        <NumberInput
          label={say('account.concurrency')}
          description={say('account.limitAbout')}
          value={concurrency}
          onChange={setConcurrency}
          min={1}
          allowDecimal={false}
        />
      </Group>
    </FormButton>
  );
}

/** An empty field is the deployment's default. */
function numberOrNull(value: string | number): number | null {
  return value === '' ? null : Number(value);
}
