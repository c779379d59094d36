import { Link } from '@tanstack/react-router';
import type { ConfigVersionSummary } from '../../../api/schema.ts';
import { State } from '../../../kit/badge.tsx';
import { Panel } from '../../../kit/page.tsx';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { CONFIG_PATH, useVersionInForce } from './config-api.ts';
import { ConfigurationLayout } from './layout.tsx';

/** Every configuration that was ever in force. */
export function ConfigVersions() {
  const say = useSay();
  const pages = usePages<ConfigVersionSummary>(`${CONFIG_PATH}/versions`, ({ version }) => String(version));
  const { data: first } = useVersionInForce();
  return (
    <ConfigurationLayout shown="versions">
      <Panel flush>
        <Paged pages={pages} empty={say('configuration.noVersions')}>
          {(rows) => (
            <Table
              label={say('configuration.tabs.versions')}
              rows={rows}
              keyOf={({ version }) => String(version)}
              columns={[
                {
                  label: say('configuration.version'),
                  cell: ({ version }) => (
                    <>
                      <Link to={`/console/admin/configuration/versions/${version}` as never} className="num">
                        {version}
                      </Link>{' '}
                      {version === first?.version && <State tone="good">{say('configuration.current')}</State>}
                    </>
                  ),
                },
                { label: say('configuration.applied_at'), cell: ({ applied_at }) => <Time at={applied_at} /> },
                { label: say('configuration.actor'), cell: ({ actor }) => actor },
                { label: say('configuration.source'), cell: ({ source }) => say(`configuration.sources.${source}`) },
                { label: say('configuration.changeCount'), end: true, cell: ({ change_count }) => change_count },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </ConfigurationLayout>
  );
}
