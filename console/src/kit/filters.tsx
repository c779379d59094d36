import { Button, Group, Select, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useSay } from '../text.tsx';

export type Filter<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** The filters of a page, which live in its address: a view can be sent to others and found again. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const values = Object.fromEntries(
    names.flatMap((name) => (isSet(search[name]) ? [[name, String(search[name])]] : [])),
  ) as Filter<Name>;
  const change = (changed: Readonly<Partial<Record<Name, string | null | undefined>>>) => {
    const set = Object.entries({ ...search, ...changed }).filter(([, value]) => isSet(value));
    void navigate({ to: '.', search: Object.fromEntries(set), replace: true });
  };
  const clear = () => change(Object.fromEntries(names.map((name) => [name, undefined])) as Filter<Name>);
  /** What a filter's field is given. */
  const of = (name: Name) => ({
    value: values[name],
    change: (value: string | undefined) => change({ [name]: value } as Filter<Name>),
  });
  return { values, change, clear, of };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Filters beside one another; `clear` is offered while one is set. */
export function Filters({
  clear,
  children,
}: {
  readonly clear: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const say = useSay();
  return (
    <Group gap="sm" align="flex-end" role="search">
      {children}
      {clear !== undefined && (
        <Button variant="subtle" onClick={clear}>
          {say('filter.clear')}
        </Button>
      )}
    </Group>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly change: (value: string | undefined) => void;
}

interface FilterSelectProps extends FilterProps {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function FilterSelect({ label, value, change, options }: FilterSelectProps) {
  const say = useSay();
  // What an address names is shown even where no list has it, as for a key that was deleted.
  const isKnown = value === undefined || options.some((option) => option.value === value);
  const data = isKnown ? options : [...options, { value, label: value }];
  return (
    <Select
      className="filter"
      label={label}
      placeholder={say('filter.all')}
      value={value ?? null}
      onChange={(chosen) => change(chosen ?? undefined)}
      data={[...data]}
      clearable
      searchable={data.length > 8}
      clearButtonProps={{ 'aria-label': say('filter.clear') }}
    />
  );
}

/** Takes effect on Enter or on leaving the field: each letter would be a request. */
export function FilterText({ label, value = '', change }: FilterProps) {
  const [draft, setDraft] = useState({ of: value, text: value });
  // The address has changed under it: back, forward, or clear.
  if (draft.of !== value) setDraft({ of: value, text: value });
  const apply = () => {
    if (draft.text.trim() !== value) change(draft.text.trim() || undefined);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply();
  };
  return (
    <form onSubmit={submit} className="filter">
      <TextInput
        label={label}
        value={draft.text}
        onChange={(event) => setDraft({ of: value, text: event.currentTarget.value })}
        onBlur={apply}
      />
    </form>
  );
}

/** A day in UTC. */
export function FilterDay({ label, value, change }: FilterProps) {
  return (
    <TextInput
      className="filter"
      type="date"
      label={label}
      value={value ?? ''}
      onChange={(event) => change(event.currentTarget.value || undefined)}
    />
  );
}

/** The moment after a day, for an `until` that is not included. */
export function dayAfter(day: string | undefined): string | undefined {
  const start = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(start) ? undefined : new Date(start + 86_400_000).toISOString().slice(0, 10);
}
