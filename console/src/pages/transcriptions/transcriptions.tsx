import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ListedTranscription } from '../../api/schema.ts';
import { durationText } from '../../kit/format.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';
import { isOpen, TranscriptionState } from './state.tsx';

const PATH = '/api/console/audio/transcriptions';
const OPEN_REFRESH_MS = 3000;

export function Transcriptions() {
  const { say, language } = useText();
  const pages = usePages<ListedTranscription>(PATH, (row) => row.id, {
    refetchInterval: OPEN_REFRESH_MS,
    refetchWhile: ({ status }) => isOpen(status),
  });
  const start = (
    <Button component={Link} to="/console/playground?endpoint=transcriptions">
      {say('transcriptions.start')}
    </Button>
  );
  return (
    <Page title={say('transcriptions.title')} about={say('transcriptions.about')} actions={start}>
      <Panel flush>
        <Paged pages={pages} empty={say('transcriptions.none')}>
          {(rows) => (
            <Table
              label={say('transcriptions.title')}
              rows={rows}
              keyOf={(row) => row.id}
              columns={[
                {
                  label: say('transcriptions.when'),
                  cell: (row) => (
                    <Link to="/console/transcriptions/$id" params={{ id: row.id }}>
                      <Time at={row.created_at} />
                    </Link>
                  ),
                },
                { label: say('models.model'), cell: (row) => <span className="mono">{row.model}</span> },
                { label: say('transcriptions.state'), cell: (row) => <TranscriptionState status={row.status} /> },
                {
                  label: say('transcriptions.length'),
                  cell: (row) => durationText(row.seconds * 1000, language),
                  end: true,
                },
                { label: say('transcriptions.cost'), cell: (row) => <Credits value={row.usage?.credits} />, end: true },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}
