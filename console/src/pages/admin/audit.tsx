import { Text } from '@mantine/core';
import type { AuditEntry } from '../../api/schema.ts';
import { FilterSelect, Filters, FilterText, useFilters } from '../../kit/filters.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';

/** What actions begin with, as the gateway names them. */
const FAMILIES = [
  'account',
  'config',
  'consent',
  'credits',
  'file',
  'invitation',
  'key',
  'link',
  'oauth_client',
  'person',
  'secrets',
  'session',
  'token',
  'upstream',
] as const;

/** Every change: who made it, when, of what, and what it was. */
export function Audit() {
  const say = useSay();
  const { values, change, clear } = useFilters(['action', 'actor', 'target']);
  const pages = usePages<AuditEntry>('/api/admin/audit', (entry) => entry.id, { query: values });
  return (
    <Page title={say('audit.title')} about={say('audit.about')}>
      <Filters clear={Object.keys(values).length === 0 ? undefined : clear}>
        <FilterSelect
          label={say('audit.action')}
          value={values.action}
          change={(action) => change({ action })}
          options={FAMILIES.map((name) => ({ value: name, label: name }))}
        />
        <FilterText label={say('audit.actor')} value={values.actor} change={(actor) => change({ actor })} />
        <FilterText label={say('audit.target')} value={values.target} change={(target) => change({ target })} />
      </Filters>
      <Panel flush>
        <Paged pages={pages} empty={say('audit.none')}>
          {(rows) => (
            <Table
              label={say('audit.title')}
              rows={rows}
              keyOf={(entry) => entry.id}
              columns={[
                { label: say('audit.time'), cell: (entry) => <Time at={entry.at} /> },
                { label: say('audit.actor'), cell: (entry) => entry.actor },
                { label: say('audit.action'), cell: (entry) => <What entry={entry} /> },
                { label: say('audit.change'), cell: (entry) => <Detail detail={entry.detail} /> },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

function What({ entry }: { readonly entry: AuditEntry }) {
  return (
    <>
      <span className="mono">{entry.action}</span>
      <Text size="xs" className="soft mono">
        {entry.target}
      </Text>
    </>
  );
}

/** Field by field, without those that are not set; a list of changes line by line. */
function Detail({ detail }: { readonly detail: AuditEntry['detail'] }) {
  const fields = Object.entries(detail).filter(([, value]) => value !== null);
  if (fields.length === 0) return <span className="soft">–</span>;
  return fields.map(([name, value]) => (
    <Text key={name} size="xs">
      <span className="soft">{name}: </span>
      {Array.isArray(value) && value.some((item) => String(item).length > 20) ? (
        value.map((item) => <div key={String(item)}>{wordsOf(item)}</div>)
      ) : (
        <span>{wordsOf(value)}</span>
      )}
    </Text>
  ));
}

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
