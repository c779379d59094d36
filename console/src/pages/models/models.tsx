import { Box, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { SAMPLE_ENDPOINTS } from '../../api/endpoints.ts';
import { State } from '../../kit/badge.tsx';
import { FilterSelect, Filters, FilterText, useFilters } from '../../kit/filters.tsx';
import { Page } from '../../kit/page.tsx';
import { exampleText, priceExamples, rateWords } from '../../kit/price-text.ts';
import { Empty, Loading, Problem } from '../../kit/states.tsx';
import { useText } from '../../text.tsx';
import { type Offer, useOffers } from './offers.ts';

const FILTERS = ['kind', 'endpoint', 'search'] as const;
const KINDS = ['chat', 'image', 'video', 'audio'] as const;

/** What can be bought here, at which price: for account holders and visitors alike. */
export function Models() {
  const { say } = useText();
  const offers = useOffers();
  const { values } = useFilters(FILTERS);
  const found = offers.data?.filter((offer) => matches(offer, values));
  return (
    <Page title={say('models.title')} about={say('models.about')}>
      <ModelFilters />
      {found === undefined && offers.error === null && <Loading />}
      {offers.error !== null && found === undefined && (
        <Problem error={offers.error} retry={() => void offers.refetch()} />
      )}
      {found?.length === 0 && <Empty>{say(offers.data?.length === 0 ? 'models.none' : 'models.noneSuch')}</Empty>}
      <div className="cards">
        {found?.map((offer) => (
          <ModelCard key={offer.id} offer={offer} />
        ))}
      </div>
    </Page>
  );
}

type Wanted = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

function matches(offer: Offer, { kind, endpoint, search = '' }: Wanted): boolean {
  const text = [offer.id, offer.name, offer.description, ...offer.tags].join(' ').toLowerCase();
  return (
    (kind === undefined || offer.modality === kind) &&
    (endpoint === undefined || offer.endpoints.some((one) => one === endpoint)) &&
    text.includes(search.toLowerCase())
  );
}

function ModelFilters() {
  const { say } = useText();
  const { values, change, clear } = useFilters(FILTERS);
  return (
    <Filters clear={Object.keys(values).length > 0 ? clear : undefined}>
      <FilterText label={say('models.search')} value={values.search} change={(search) => change({ search })} />
      <FilterSelect
        label={say('models.modality')}
        value={values.kind}
        change={(kind) => change({ kind })}
        options={KINDS.map((kind) => ({ value: kind, label: say(`kind.${kind}`) }))}
      />
      <FilterSelect
        label={say('models.endpoint')}
        value={values.endpoint}
        change={(endpoint) => change({ endpoint })}
        options={[...SAMPLE_ENDPOINTS, 'native' as const].map((value) => ({
          value,
          label: say(`endpoint.${value}`),
        }))}
      />
    </Filters>
  );
}

function ModelCard({ offer }: { readonly offer: Offer }) {
  const { say, language } = useText();
  const example = priceExamples(offer.pricing, say, language).at(-1);
  const isPlain = offer.pricing.mode === 'per_request' || offer.pricing.mode === 'per_k_char';
  return (
    <Link to="/console/models/$" params={{ _splat: offer.id }} className="panel card">
      <Stack gap={6} h="100%">
        <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
          <Text fw={650}>{offer.name}</Text>
          <Box flex="none">
            <State tone="soft">{say(`kind.${offer.modality}`)}</State>
          </Box>
        </Group>
        {offer.name !== offer.id && (
          <Text size="xs" className="soft mono">
            {offer.id}
          </Text>
        )}
        {offer.description !== '' && (
          <Text size="sm" className="soft" lineClamp={2}>
            {offer.description}
          </Text>
        )}
        <div style={{ marginTop: 'auto' }}>
          <Text size="sm" fw={600}>
            {rateWords(offer.pricing, say, language)}
          </Text>
          {example !== undefined && !isPlain && (
            <Text size="xs" className="soft">
              {exampleText(example, say, language)}
            </Text>
          )}
        </div>
      </Stack>
    </Link>
  );
}
