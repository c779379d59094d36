import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKeyRecord } from '../../api/schema.ts';
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
