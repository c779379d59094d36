import { Anchor, Button, FileButton, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { File as StoredFile } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';
import { uploadFile } from '../../api/upload.ts';
import { Confirm, useRefresh } from '../../kit/confirm.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { bytesText } from '../../kit/format.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Problem } from '../../kit/states.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';

const PATH = '/api/console/files';
const MEDIA_TYPES = 'image/*,video/*,audio/*';

/** What was uploaded to be named in requests: kept for a day, then gone. */
export function Files() {
  const { say, language } = useText();
  const mayChange = useMay('member');
  const pages = usePages<StoredFile>(PATH, (file) => file.id);
  const [problem, setProblem] = useState<unknown>();
  const upload = mayChange ? <Upload report={setProblem} /> : undefined;
  return (
    <Page title={say('files.title')} about={say('files.about')} actions={upload}>
      {problem !== undefined && (
        <Panel>
          <Problem error={problem} />
        </Panel>
      )}
      <Panel flush>
        <Paged pages={pages} empty={say('files.none')}>
          {(rows) => (
            <Table
              label={say('files.title')}
              rows={rows}
              keyOf={(file) => file.id}
              columns={[
                { label: say('files.name'), cell: (file) => <Name file={file} /> },
                { label: say('files.size'), cell: (file) => bytesText(file.bytes, language), end: true },
                { label: say('files.uploaded'), cell: (file) => <Time at={file.created_at} /> },
                { label: say('files.expires'), cell: (file) => <Time at={file.expires_at} /> },
                {
                  label: say('files.actions'),
                  cell: (file) => <Actions file={file} mayDelete={mayChange} />,
                  end: true,
                },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

function Upload({ report }: { readonly report: (problem: unknown) => void }) {
  const { say } = useText();
  const refresh = useRefresh();
  const upload = useMutation({
    mutationFn: async (files: readonly globalThis.File[]) => {
      for (const file of files) await uploadFile(file);
    },
    onMutate: () => report(undefined),
    onError: report,
    // Those before the one that was refused are there.
    onSettled: () => refresh([PATH]),
  });
  return (
    <FileButton onChange={(files) => upload.mutate(files)} accept={MEDIA_TYPES} multiple>
      {(props) => (
        <Button {...props} loading={upload.isPending}>
          {say('files.upload')}
        </Button>
      )}
    </FileButton>
  );
}

function Name({ file }: { readonly file: StoredFile }) {
  return (
    <Group gap="sm" wrap="nowrap" justify="flex-start" ta="start">
      {file.mime_type.startsWith('image/') && <img className="glimpse" src={file.url} alt="" loading="lazy" />}
      <div style={{ minWidth: 0 }}>
        <Anchor href={file.url} target="_blank" rel="noreferrer" size="sm" fw={600} c="inherit">
          {file.filename}
        </Anchor>
        <Text size="xs" className="soft mono">
          {file.mime_type} · {file.id}
        </Text>
      </div>
    </Group>
  );
}

function Actions({ file, mayDelete }: { readonly file: StoredFile; readonly mayDelete: boolean }) {
  const { say } = useText();
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <CopyButton text={file.url} label={say('files.copyLink')} />
      {mayDelete && (
        <Confirm
          label={say('action.delete')}
          title={say('files.deleteTitle', { name: file.filename })}
          act={() => api(`${PATH}/${file.id}`, { method: 'DELETE' })}
          changes={[PATH]}
        >
          {say('files.deleteAbout')}
        </Confirm>
      )}
    </Group>
  );
}
