import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { creditsText } from '../../../kit/format.ts';
import { Name } from '../../../kit/name.tsx';
import { Panel } from '../../../kit/page.tsx';
import { Empty, Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { useSay, useText } from '../../../text.tsx';
import { CONFIG_PATH } from './config-api.ts';
import { ConfigurationLayout } from './layout.tsx';

/** Of the document, what a table of models shows. */
interface ConfigModel {
  readonly id: string;
  readonly display_name: string;
  readonly modality: string;
  readonly endpoints: readonly string[];
  readonly pricing: {
    readonly mode: string;
    readonly credits: Readonly<Record<string, number>>;
  } & Readonly<Partial<Record<(typeof RATIOS)[number], Readonly<Record<string, number>>>>>;
  readonly routes: readonly { readonly upstream: string; readonly model: string }[];
}

const RATIOS = ['resolution_ratio', 'size_ratio', 'quality_ratio', 'flag_ratio'] as const;

/** What is sold, at which price, and who serves it. */
export function ConfigModels() {
  const say = useSay();
  const document = useQuery({
    queryKey: [CONFIG_PATH],
    queryFn: ({ signal }) => api<{ readonly models: readonly ConfigModel[] }>(CONFIG_PATH, { signal }),
  });
  return (
    <ConfigurationLayout shown="models">
      <Panel flush>
        <Loaded query={document}>
          {({ models }) =>
            models.length === 0 ? (
              <Empty>{say('configuration.noModels')}</Empty>
            ) : (
              <Table
                label={say('configuration.tabs.models')}
                rows={models}
                keyOf={({ id }) => id}
                columns={[
                  { label: say('configuration.model'), cell: (model) => <Title model={model} /> },
                  { label: say('configuration.endpoints'), cell: ({ endpoints }) => endpoints.join(', ') },
                  { label: say('configuration.price'), cell: ({ pricing }) => <Price pricing={pricing} /> },
                  { label: say('configuration.routes'), cell: ({ routes }) => <Routes routes={routes} /> },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
    </ConfigurationLayout>
  );
}

function Title({ model }: { readonly model: ConfigModel }) {
  return (
    <>
      <Text size="sm" fw={600}>
        <Name>{model.id}</Name>
      </Text>
      <Text size="xs" className="soft">
        {[model.display_name, model.modality].filter((text) => text !== '').join(' · ')}
      </Text>
    </>
  );
}

/** Credits by unit, and what the request's choices multiply them by. */
function Price({ pricing }: { readonly pricing: ConfigModel['pricing'] }) {
  const { say, language } = useText();
  return (
    <>
      <Text size="sm">
        {Object.entries(pricing.credits)
          .map(([rate, credits]) =>
            say(`configuration.rates.${rateKey(pricing.mode, rate)}`, { credits: creditsText(credits, language) }),
          )
          .join(', ')}
      </Text>
      {RATIOS.map((name) => {
        const ratios = pricing[name];
        if (ratios === undefined) return null;
        return (
          <Text key={name} size="xs" className="soft">
            {say(`configuration.ratios.${name}`)}:{' '}
            {Object.entries(ratios)
              .map(([choice, ratio]) => `${choice} ×${creditsText(ratio, language)}`)
              .join(', ')}
          </Text>
        );
      })}
    </>
  );
}

const RATES = [
  'per_second',
  'input_per_k',
  'output_per_k',
  'cached_per_k',
  'cache_write_per_k',
  'reasoning_per_k',
] as const;
const MODES = ['per_image', 'per_request', 'per_k_char', 'per_audio_second'] as const;

/** `base` is per whatever the mode counts, and once where the mode counts by another rate. */
function rateKey(mode: string, rate: string) {
  const own = RATES.find((name) => name === rate);
  return own ?? MODES.find((name) => name === mode) ?? 'base';
}

function Routes({ routes }: { readonly routes: ConfigModel['routes'] }) {
  return routes.map(({ upstream, model }) => (
    <Text key={`${upstream} ${model}`} size="xs">
      <Name>{`${upstream} / ${model}`}</Name>
    </Text>
  ));
}
