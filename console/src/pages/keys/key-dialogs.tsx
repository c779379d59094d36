import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKeyRecord, NewApiKey, RolledApiKey } from '../../api/schema.ts';
import { FormDialog } from '../../kit/dialog.tsx';
import { useSay } from '../../text.tsx';
import { bodyOf, draftOf, KeyFields } from './key-fields.tsx';

const PATH = '/api/console/keys';

interface KeyDialogProps {
  readonly apiKey: ApiKeyRecord;
  readonly close: () => void;
}

/** Shown while it is open only, so that it begins with the key as it is. */
export function EditKey({ apiKey, close }: KeyDialogProps) {
  const say = useSay();
  const [draft, setDraft] = useState(() => draftOf(apiKey));
  return (
    <FormDialog
      title={say('keys.editTitle', { name: apiKey.name })}
      isOpen
      close={close}
      label={say('action.save')}
      act={() => api(`${PATH}/${apiKey.id}`, { method: 'PATCH', body: bodyOf(draft) })}
      changes={[PATH]}
    >
      <KeyFields draft={draft} change={setDraft} />
    </FormDialog>
  );
}

const OVERLAPS = { now: 0, hour: 3600, day: 86_400, week: 604_800 } as const;
type Overlap = keyof typeof OVERLAPS;

/** A new key in the place of this one, which works on for a while. */
export function RollKey({ apiKey, close, done }: KeyDialogProps & { readonly done: (made: NewApiKey) => void }) {
  const say = useSay();
  const [overlap, setOverlap] = useState<Overlap>('day');
  return (
    <FormDialog
      title={say('keys.rollTitle', { name: apiKey.name })}
      isOpen
      close={close}
      label={say('keys.roll')}
      act={() =>
        api<RolledApiKey>(`${PATH}/${apiKey.id}/roll`, { method: 'POST', body: { overlap_seconds: OVERLAPS[overlap] } })
      }
      done={done}
      changes={[PATH]}
    >
      <Text size="sm">{say('keys.rollAbout')}</Text>
      <Select
        label={say('keys.overlap')}
        value={overlap}
        onChange={(chosen) => setOverlap(chosen as Overlap)}
        data={(Object.keys(OVERLAPS) as Overlap[]).map((value) => ({ value, label: say(`keys.overlaps.${value}`) }))}
        allowDeselect={false}
        data-autofocus
      />
    </FormDialog>
  );
}
