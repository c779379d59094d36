import { Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCatalogue } from '../../api/catalogue.ts';
import { api } from '../../api/client.ts';
import { PLAYGROUND_ENDPOINTS, type PlaygroundEndpoint } from '../../api/endpoints.ts';
import { jobPath } from '../../api/jobs.ts';
import type { CatalogueModel, JobRequest } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';
import { useFilters } from '../../kit/filters.tsx';
import { Page } from '../../kit/page.tsx';
import { Empty, Loaded } from '../../kit/states.tsx';
import { useSay } from '../../text.tsx';
import { type Body, type Draft, draftOf, EMPTY_DRAFT } from './draft.ts';
import { fieldsOf } from './fields.ts';
import { Workbench } from './workbench.tsx';

/** Every model tried in place: a form of what it takes, the price before, the result, and the same call as code. */
export function Playground() {
  const say = useSay();
  const catalogue = useCatalogue();
  const mayRun = useMay('member');
  return (
    <Page title={say('playground.title')} about={say('playground.about')}>
      {mayRun ? (
        <Loaded query={catalogue}>
          {(models) => {
            const usable = models.filter((model) => endpointsOf(model).length > 0);
            const [first] = usable;
            if (first === undefined) return <Empty>{say('playground.noModel')}</Empty>;
            return <Ready models={usable} first={first} />;
          }}
        </Loaded>
      ) : (
        <Empty>{say('playground.viewer')}</Empty>
      )}
    </Page>
  );
}

/** What is filled in, and on which form it was filled in anew. */
interface Filled {
  readonly draft: Draft;
  /** The job whose request it shows. */
  readonly of?: string | undefined;
}

function Ready({ models, first }: { readonly models: readonly CatalogueModel[]; readonly first: CatalogueModel }) {
  const { values, change } = useFilters(['model', 'endpoint', 'again']);
  const [filled, setFilled] = useState<Filled>({ draft: EMPTY_DRAFT });
  const { model, endpoint } = chosen(models, first, values);
  const fill = (next: PlaygroundEndpoint, name: string, body: Body, of?: string) => {
    const other = models.find(({ id }) => id === name) ?? model;
    setFilled({ draft: draftOf(next, fieldsOf(next, other), body), of });
    change({ model: other.id, endpoint: next, again: undefined });
  };
  return (
    <>
      <Again id={values.again === filled.of ? undefined : values.again} fill={fill} />
      <Choice
        models={models}
        model={model}
        endpoint={endpoint}
        choose={(id, next) => change({ model: id, endpoint: next, again: undefined })}
      />
      <Workbench
        key={`${model.id} ${endpoint}`}
        model={model}
        endpoint={endpoint}
        draft={filled.draft}
        setDraft={(draft) =>
          setFilled((now) => ({ ...now, draft: typeof draft === 'function' ? draft(now.draft) : draft }))
        }
        fill={fill}
      />
    </>
  );
}

interface Wanted {
  readonly model?: string;
  readonly endpoint?: string;
}

/** As the address says, as far as there is such a model; else the first that makes pictures, which is nicest to see. */
function chosen(models: readonly CatalogueModel[], first: CatalogueModel, { model: id, endpoint: wanted }: Wanted) {
  const serves = (model: CatalogueModel, endpoint: string | undefined) =>
    endpointsOf(model).some((one) => one === endpoint);
  const model =
    models.find((one) => one.id === id) ??
    models.find((one) => serves(one, wanted)) ??
    models.find((one) => serves(one, 'images')) ??
    first;
  const endpoint = endpointsOf(model).find((one) => one === wanted) ?? endpointsOf(model)[0] ?? 'images';
  return { model, endpoint };
}

function endpointsOf({ endpoints }: CatalogueModel): readonly PlaygroundEndpoint[] {
  return PLAYGROUND_ENDPOINTS.filter((endpoint) => endpoints.includes(endpoint));
}

interface ChoiceProps {
  readonly models: readonly CatalogueModel[];
  readonly model: CatalogueModel;
  readonly endpoint: PlaygroundEndpoint;
  readonly choose: (model: string, endpoint?: string) => void;
}

function Choice({ models, model, endpoint, choose }: ChoiceProps) {
  const say = useSay();
  const kinds = [...new Set(models.map(({ modality }) => modality))];
  const groups = kinds.map((kind) => ({
    group: say(`kind.${kind}`),
    items: models.filter(({ modality }) => modality === kind).map(({ id }) => id),
  }));
  const endpoints = endpointsOf(model);
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label={say('models.model')}
        data={groups}
        value={model.id}
        onChange={(id) => id !== null && choose(id)}
        allowDeselect={false}
        searchable
        w={{ base: '100%', xs: 320 }}
      />
      {endpoints.length > 1 && (
        <SegmentedControl
          data={endpoints.map((value) => ({ value, label: say(`endpoint.${value}`) }))}
          value={endpoint}
          onChange={(next) => choose(model.id, next)}
          aria-label={say('models.endpoint')}
        />
      )}
      {model.description !== '' && (
        <Text size="sm" className="soft" style={{ flex: '1 1 18rem' }}>
          {model.description}
        </Text>
      )}
    </Group>
  );
}

interface AgainProps {
  readonly id: string | undefined;
  readonly fill: (endpoint: PlaygroundEndpoint, model: string, body: Body, of: string) => void;
}

/** Offers the form filled in as a job was made, once the gateway has said how. */
function Again({ id, fill }: AgainProps) {
  const say = useSay();
  const path = `${jobPath(id ?? '')}/request`;
  const request = useQuery({
    queryKey: [path],
    queryFn: async ({ signal }) => {
      const found = await api<JobRequest>(path, { signal });
      const endpoint = PLAYGROUND_ENDPOINTS.find((one) => one === found.endpoint);
      if (endpoint !== undefined) fill(endpoint, String(found.body.model), found.body, found.job_id);
      return found;
    },
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (id === undefined || request.error === null) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" style={{ color: 'var(--bad)' }} role="alert">
        {request.error.message}
      </Text>
      <Button variant="default" size="compact-sm" onClick={() => void request.refetch()} w="fit-content">
        {say('state.retry')}
      </Button>
    </Stack>
  );
}
