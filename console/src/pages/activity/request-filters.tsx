import { useKeyNames } from '../../api/account.ts';
import type { Call } from '../../api/client.ts';
import { LOGGED_ENDPOINTS } from '../../api/endpoints.ts';
import { dayAfter, type Filter, FilterDay, FilterSelect, Filters, FilterText, useFilters } from '../../kit/filters.tsx';
import { useSay } from '../../text.tsx';

const NAMES = ['since', 'until', 'model', 'key', 'endpoint', 'status', 'code', 'request_id'] as const;

type RequestFilter = Filter<(typeof NAMES)[number]>;

export function useRequestFilters() {
  const filters = useFilters(NAMES);
  return { ...filters, isSet: Object.keys(filters.values).length > 0 };
}

/** As the list of requests takes it: the last day is meant to its end. */
export function queryOfFilter({ until, ...same }: RequestFilter): NonNullable<Call['query']> {
  return { ...same, until: dayAfter(until) };
}

/** Time, model, key, route, outcome, code and request id, together. */
export function RequestFilters({ values, change, clear, isSet }: ReturnType<typeof useRequestFilters>) {
  const say = useSay();
  const keys = useKeyNames();
  return (
    <Filters clear={isSet ? clear : undefined}>
      <FilterDay label={say('filter.since')} value={values.since} change={(since) => change({ since })} />
      <FilterDay label={say('filter.until')} value={values.until} change={(until) => change({ until })} />
      <FilterSelect
        label={say('activity.outcome')}
        value={values.status}
        change={(status) => change({ status })}
        options={[
          { value: 'ok', label: say('activity.ok') },
          { value: 'error', label: say('activity.error') },
        ]}
      />
      <FilterSelect
        label={say('activity.route')}
        value={values.endpoint}
        change={(endpoint) => change({ endpoint })}
        options={LOGGED_ENDPOINTS.map((value) => ({ value, label: value }))}
      />
      <FilterSelect
        label={say('activity.key')}
        value={values.key}
        change={(key) => change({ key })}
        options={[
          { value: 'console', label: say('activity.console') },
          ...[...keys].map(([value, label]) => ({ value, label })),
        ]}
      />
      <FilterText label={say('activity.model')} value={values.model} change={(model) => change({ model })} />
      <FilterText label={say('activity.code')} value={values.code} change={(code) => change({ code })} />
      <FilterText
        label={say('activity.requestId')}
        value={values.request_id}
        change={(request_id) => change({ request_id })}
      />
    </Filters>
  );
}
