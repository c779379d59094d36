import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import type { Upstream } from '../../../api/schema.ts';
import { Page, Panel } from '../../../kit/page.tsx';
import { Empty, Loaded } from '../../../kit/states.tsx';
import { useSay } from '../../../text.tsx';
import { UpstreamPanel } from './upstream-panel.tsx';

export const UPSTREAMS_PATH = '/api/admin/upstreams';
const REFRESH_MS = 10_000;

interface UpstreamList {
  readonly data: readonly Upstream[];
  readonly models_without_candidate: readonly string[];
}

/** Every upstream: whether it works, and if not, in whose words, since when, and what to do. */
export function Upstreams() {
  const say = useSay();
  const list = useQuery({
    queryKey: [UPSTREAMS_PATH],
    queryFn: ({ signal }) => api<UpstreamList>(UPSTREAMS_PATH, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title={say('upstreams.title')} about={say('upstreams.about')}>
      <Loaded query={list}>
        {({ data, models_without_candidate }) => (
          <>
            {models_without_candidate.length > 0 && <Uncovered models={models_without_candidate} />}
            {data.length === 0 ? (
              <Panel>
                <Empty action={<Link to={'/console/admin/configuration'}>{say('nav.configuration')}</Link>}>
                  {say('upstreams.none')}
                </Empty>
              </Panel>
            ) : (
              data.map((upstream) => <UpstreamPanel key={upstream.id} upstream={upstream} />)
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Uncovered({ models }: { readonly models: readonly string[] }) {
  const say = useSay();
  return (
    <Panel>
      <Stack gap={4} role="alert">
        <Text fw={600} size="sm" style={{ color: 'var(--bad)' }}>
          {say('upstreams.uncovered')}
        </Text>
        <Text size="sm" className="mono">
          {models.join(', ')}
        </Text>
      </Stack>
    </Panel>
  );
}
