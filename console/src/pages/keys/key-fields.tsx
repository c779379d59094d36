import { Group, MultiSelect, NumberInput, TextInput } from '@mantine/core';
import { useAccount } from '../../api/account.ts';
import type { ApiKeyRecord } from '../../api/schema.ts';
import { type LimitDraft, LimitFields, limitBody, limitDraft } from '../../kit/limit-fields.tsx';
import { useSay } from '../../text.tsx';

/** A key's settings as they stand in a form; empty is the account's own. */
export interface KeyDraft extends LimitDraft {
  readonly name: string;
  readonly rpm: string | number;
  readonly concurrency: string | number;
  readonly groups: readonly string[];
}

export const NEW_KEY: KeyDraft = { name: '', limit: '', reset: '', rpm: '', concurrency: '', groups: [] };

export function draftOf(key: ApiKeyRecord): KeyDraft {
  return {
    ...limitDraft(key),
    name: key.name,
    rpm: key.rpm ?? '',
    concurrency: key.concurrency ?? '',
    groups: key.groups ?? [],
  };
}

/** As the gateway takes it. */
export function bodyOf(draft: KeyDraft) {
  return {
    ...limitBody(draft),
    name: draft.name,
    rpm: draft.rpm === '' ? null : Number(draft.rpm),
    concurrency: draft.concurrency === '' ? null : Number(draft.concurrency),
    groups: draft.groups.length === 0 ? null : draft.groups,
  };
}

interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly change: (draft: KeyDraft) => void;
}

export function KeyFields({ draft, change }: KeyFieldsProps) {
  const say = useSay();
  const account = useAccount().data;
  const most = (limit: number | undefined) => (limit === undefined ? '' : say('keys.atMost', { limit }));
  return (
    <>
      <TextInput
        label={say('keys.name')}
        description={say('keys.nameAbout')}
        value={draft.name}
        onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
        maxLength={200}
        required
        data-autofocus
      />
      <LimitFields draft={draft} change={(limits) => change({ ...draft, ...limits })} />
      <Group grow align="flex-start">
        <NumberInput
          label={say('keys.rpm')}
          description={most(account?.limits.rpm)}
          value={draft.rpm}
          onChange={(rpm) => change({ ...draft, rpm })}
          min={1}
          allowDecimal={false}
          hideControls
        />
        <NumberInput
          label={say('keys.concurrency')}
          description={most(account?.limits.concurrency)}
          value={draft.concurrency}
          onChange={(concurrency) => change({ ...draft, concurrency })}
          min={1}
          allowDecimal={false}
          hideControls
        />
      </Group>
      {account !== undefined && account.groups.length > 1 && (
        <MultiSelect
          label={say('keys.groups')}
          description={say('keys.groupsAbout')}
          value={[...draft.groups]}
          onChange={(groups) => change({ ...draft, groups })}
          data={[...account.groups]}
        />
      )}
    </>
  );
}
