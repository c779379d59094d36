import { Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { ConfigEstimate } from '../../../api/schema.ts';
import { State } from '../../../kit/badge.tsx';
import { Name } from '../../../kit/name.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { Credits } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { CONFIG_PATH } from './config-api.ts';

type Row = ConfigEstimate['data'][number];

/** What typical calls cost now, and would cost under the document. */
export function PriceChanges({ document }: { readonly document: string }) {
  const path = `${CONFIG_PATH}/estimate`;
  const estimate = useQuery({
    queryKey: [path, document],
    queryFn: ({ signal }) => api<ConfigEstimate>(path, { method: 'POST', body: { document }, signal }),
    gcTime: 0,
  });
  return <Loaded query={estimate}>{({ data }) => <Prices rows={data} />}</Loaded>;
}

function Prices({ rows }: { readonly rows: readonly Row[] }) {
  const say = useSay();
  const [isWhole, setWhole] = useState(false);
  const changed = rows.filter(({ credits_now, credits_then }) => credits_now !== credits_then);
  const shown = isWhole ? rows : changed;
  return (
    <>
      <Switch
        size="xs"
        mb="xs"
        label={say('configuration.allCalls', { count: rows.length })}
        checked={isWhole}
        onChange={(event) => setWhole(event.currentTarget.checked)}
      />
      {shown.length === 0 ? (
        <Text size="sm">{say('configuration.samePrices')}</Text>
      ) : (
        <Table
          label={say('configuration.prices')}
          rows={shown}
          keyOf={({ model, endpoint, call }) => `${model} ${endpoint} ${call}`}
          columns={[
            { label: say('configuration.model'), cell: ({ model }) => <Name>{model}</Name> },
            { label: say('configuration.call'), cell: (row) => <Call row={row} /> },
            { label: say('configuration.now'), end: true, cell: ({ credits_now }) => <Credits value={credits_now} /> },
            {
              label: say('configuration.then'),
              end: true,
              cell: ({ credits_then }) => <Credits value={credits_then} />,
            },
            { label: say('configuration.change'), end: true, cell: (row) => <Change row={row} /> },
          ]}
        />
      )}
    </>
  );
}

function Call({ row }: { readonly row: Row }) {
  return (
    <>
      {row.endpoint} · {row.call}
      {row.problems.map((problem) => (
        <Text key={problem} size="xs" className="soft">
          {problem}
        </Text>
      ))}
    </>
  );
}

/** Dearer and cheaper are told in words too. */
function Change({ row }: { readonly row: Row }) {
  const say = useSay();
  if (row.credits_now === null) {
    return row.credits_then === null ? '–' : <State tone="good">{say('configuration.new')}</State>;
  }
  if (row.credits_then === null) return <State tone="bad">{say('configuration.gone')}</State>;
  if (row.change === null || row.change === 0) return <span className="soft">{say('configuration.same')}</span>;
  return (
    <span>
      <Credits value={row.change} /> {say(row.change > 0 ? 'configuration.dearer' : 'configuration.cheaper')}
    </span>
  );
}
