import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { clipOf } from '../../api/clips.ts';
import type { OpenTranscriptionRecord, TranscriptionRecord } from '../../api/schema.ts';
import { Fact, Facts } from '../../kit/facts.tsx';
import { durationText } from '../../kit/format.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Empty, Loaded } from '../../kit/states.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';
import { isOpen, TranscriptionState } from './state.tsx';
import { Transcript } from './transcript.tsx';

const OPEN_REFRESH_MS = 2000;

/** One transcription: the text with its times, and the sound beside it if the person has it. */
export function TranscriptionPage() {
  const { say } = useText();
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  const path = `/api/console/audio/transcriptions/${encodeURIComponent(id)}`;
  const record = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<TranscriptionRecord | OpenTranscriptionRecord>(path, { signal }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOpen(data.status) ? OPEN_REFRESH_MS : false),
  });
  return (
    <Page title={say('transcriptions.one')} about={<span className="mono">{id}</span>}>
      <Loaded query={record}>{(found) => <Found record={found} />}</Loaded>
    </Page>
  );
}

function Found({ record }: { readonly record: TranscriptionRecord | OpenTranscriptionRecord }) {
  const { say, language } = useText();
  const result = 'result' in record ? record.result : undefined;
  const error = 'error' in record ? record.error : undefined;
  return (
    <>
      <Panel>
        <Facts>
          <Fact label={say('transcriptions.state')}>
            <TranscriptionState status={record.status} />
          </Fact>
          <Fact label={say('models.model')}>
            <span className="mono">{record.model}</span>
          </Fact>
          <Fact label={say('transcriptions.when')}>
            <Time at={record.created_at} exact />
          </Fact>
          {result !== undefined && (
            <>
              <Fact label={say('transcriptions.length')}>{durationText(result.duration * 1000, language)}</Fact>
              <Fact label={say('transcriptions.language')}>{result.language ?? '–'}</Fact>
              <Fact label={say('transcriptions.cost')}>
                <Group gap={4}>
                  <Credits value={result.usage.credits} />
                  {say('unit.credits')}
                </Group>
              </Fact>
            </>
          )}
          {record.expires_at !== undefined && (
            <Fact label={say('transcriptions.until')}>
              <Time at={record.expires_at} />
            </Fact>
          )}
        </Facts>
      </Panel>
      <Panel title={say('transcriptions.text')}>
        {result !== undefined && <Transcript name={record.id} result={result} clip={clipOf(record.id)} />}
        {error !== undefined && (
          <>
            <Text fw={600} style={{ color: 'var(--bad)' }}>
              {error.message}
            </Text>
            <Text size="sm" className="soft mono">
              {error.code}
            </Text>
          </>
        )}
        {isOpen(record.status) && <Empty>{say('transcriptions.open')}</Empty>}
      </Panel>
    </>
  );
}
