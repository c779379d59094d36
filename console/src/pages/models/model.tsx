import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { PLAYGROUND_ENDPOINTS, SAMPLE_ENDPOINTS, type SampleEndpoint } from '../../api/endpoints.ts';
import { useSession } from '../../api/session.ts';
import { State } from '../../kit/badge.tsx';
import { CodeTabs } from '../../kit/copy.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { countText } from '../../kit/format.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Empty, Loading, Problem } from '../../kit/states.tsx';
import { sampleBody } from '../../samples/body.ts';
import { samplesOf } from '../../samples/samples.ts';
import { useText } from '../../text.tsx';
import { Calculator } from './calculator.tsx';
import { Models } from './models.tsx';
import { type Offer, useOffers } from './offers.ts';
import { Prices } from './prices.tsx';

/** The list, or one model: what it does, what can be asked of it, what it costs, and a call to copy. */
export function ModelPage() {
  const { say } = useText();
  const { _splat: id = '' } = useParams({ strict: false }) as { readonly _splat?: string };
  const offers = useOffers();
  const offer = offers.data?.find((one) => one.id === id);
  if (id === '') return <Models />;
  if (offer !== undefined) return <Found offer={offer} />;
  return (
    <Page title={id}>
      {offers.error !== null ? (
        <Problem error={offers.error} retry={() => void offers.refetch()} />
      ) : offers.data === undefined ? (
        <Loading />
      ) : (
        <Empty action={<Link to="/console/models">{say('models.all')}</Link>}>{say('models.notOffered')}</Empty>
      )}
    </Page>
  );
}

function Found({ offer }: { readonly offer: Offer }) {
  const { say } = useText();
  const endpoint = PLAYGROUND_ENDPOINTS.find((one) => offer.endpoints.includes(one));
  const sampled = SAMPLE_ENDPOINTS.find((one) => offer.endpoints.includes(one));
  const search = new URLSearchParams({ model: offer.id, ...(endpoint === undefined ? {} : { endpoint }) });
  const tryIt = (
    <Button component={Link} to={`/console/playground?${search}`}>
      {say('models.try')}
    </Button>
  );
  return (
    <Page
      title={offer.name}
      about={
        <>
          <span className="mono">{offer.id}</span>
          {offer.description !== '' && <> · {offer.description}</>}
        </>
      }
      actions={endpoint === undefined ? undefined : tryIt}
    >
      <Anchor component={Link} to="/console/models" size="sm" c="inherit" underline="always">
        ← {say('models.all')}
      </Anchor>
      <Panel title={say('models.takes')}>
        <Accepted offer={offer} />
      </Panel>
      <div className="halves">
        <Panel title={say('models.calculator')}>
          <Calculator offer={offer} />
        </Panel>
        <Panel title={say('models.price')} flush>
          <Prices pricing={offer.pricing} />
        </Panel>
      </div>
      {sampled !== undefined && <Sample offer={offer} endpoint={sampled} />}
    </Page>
  );
}

const SLOTS = [
  'reference_images',
  'mask',
  'first_frame',
  'last_frame',
  'input_reference',
  'reference_videos',
  'reference_audios',
  'ref_video',
  'generate_audio',
] as const;

/** Visitors are told the endpoints; those with an account also what each field may be. */
function Accepted({ offer }: { readonly offer: Offer }) {
  const { say, language } = useText();
  const { card } = offer;
  const list = (values: readonly string[] | null | undefined) =>
    values === undefined || values === null || values.length === 0 ? undefined : values.join(', ');
  const number = (value: number | null | undefined) =>
    value === undefined || value === null ? undefined : countText(value, language);
  const facts = [
    ['models.sizes', list(card?.accepts.sizes)],
    ['models.resolutions', list(card?.accepts.resolutions)],
    ['models.shapes', list(card?.accepts.aspect_ratios)],
    ['models.qualities', list(card?.accepts.qualities)],
    ['models.formats', list(card?.accepts.formats)],
    [
      'models.slots',
      list(SLOTS.filter((slot) => card?.accepts.slots.includes(slot)).map((slot) => say(`slot.${slot}`))),
    ],
    ['models.most', number(card?.accepts.n_max)],
    ['models.seconds', number(card?.accepts.seconds_max)],
    ['models.context', number(card?.context_tokens)],
    ['models.output', number(card?.max_output_tokens)],
    ['models.voiceSample', card?.accepts.voice_sample === 'required' ? say('models.required') : undefined],
  ] as const;
  return (
    <Facts>
      <Fact label={say('models.modality')}>{say(`kind.${offer.modality}`)}</Fact>
      <Fact label={say('models.endpoints')}>
        <Group gap={6}>
          {offer.endpoints.map((endpoint) => (
            <State key={endpoint} tone="soft">
              {say(`endpoint.${endpoint}`)}
            </State>
          ))}
        </Group>
      </Fact>
      {facts.map(([label, value]) =>
        value === undefined ? null : (
          <Fact key={label} label={say(label)}>
            {value}
          </Fact>
        ),
      )}
    </Facts>
  );
}

function Sample({ offer, endpoint }: { readonly offer: Offer; readonly endpoint: SampleEndpoint }) {
  const { say } = useText();
  const session = useSession();
  const origin = session?.base_url ?? window.location.origin;
  return (
    <Panel title={say('models.sample')}>
      <Text size="sm" className="soft" mb="xs">
        {say('models.sampleAbout')}
      </Text>
      <CodeTabs samples={samplesOf({ ...sampleBody(endpoint, offer.id, offer.card), endpoint, origin })} />
    </Panel>
  );
}
