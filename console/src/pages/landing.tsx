import { Anchor, Box, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { usePublicModels } from '../api/catalogue.ts';
import { api } from '../api/client.ts';
import type { Site } from '../api/schema.ts';
import { useSession } from '../api/session.ts';
import { Code } from '../kit/copy.tsx';
import { Panel } from '../kit/page.tsx';
import { exampleText, priceExamples, rateWords } from '../kit/price-text.ts';
import { Empty, Loaded } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { sampleBody } from '../samples/body.ts';
import { curlSample } from '../samples/curl.ts';
import { Brand } from '../shell/brand.tsx';
import { Controls } from '../shell/controls.tsx';
import { useSay, useText } from '../text.tsx';

/** What a visitor sees: what this is, what it sells at which price, and the way in. */
export function Landing() {
  const say = useSay();
  const session = useSession();
  const navigate = useNavigate();
  useEffect(() => {
    document.title = 'Tollgate';
    if (session !== null && session !== undefined) void navigate({ to: '/console', replace: true });
  }, [session, navigate]);
  return (
    <>
      <div className="barrier" />
      <Box maw={1080} mx="auto" p={{ base: 'md', sm: 'xl' }}>
        <Group component="header" justify="space-between" mb="xl">
          <Brand />
          <Group gap="md">
            <Anchor component={Link} to="/console/models" size="sm" c="inherit">
              {say('nav.models')}
            </Anchor>
            <Controls session={null} />
          </Group>
        </Group>
        <Stack gap="xl" component="main">
          <div className="halves">
            <Welcome />
            <FirstCall />
          </div>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            {(['one', 'exact', 'durable'] as const).map((point) => (
              <Panel key={point} title={say(`landing.${point}`)}>
                <Text size="sm">{say(`landing.${point}About`)}</Text>
              </Panel>
            ))}
          </SimpleGrid>
          <PriceList />
        </Stack>
      </Box>
    </>
  );
}

function Welcome() {
  const say = useSay();
  const site = useQuery({
    queryKey: ['/api/console/site'],
    queryFn: ({ signal }) => api<Site>('/api/console/site', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  return (
    <Stack gap="md">
      <Title order={1} fz={{ base: '1.75rem', sm: '2.125rem' }}>
        {say('landing.title')}
      </Title>
      <Text size="lg" className="soft">
        {say('landing.about')}
      </Text>
      <Group>
        <Button component="a" href="/sign-in">
          {say('shell.signIn')}
        </Button>
        {site?.sign_up === 'open' && (
          <Button component="a" href="/sign-up" variant="default">
            {say('landing.signUp')}
          </Button>
        )}
        {site?.identity_provider && (
          <Button component="a" href={site.identity_provider.url} variant="default">
            {say('landing.signInWith', { name: site.identity_provider.name })}
          </Button>
        )}
        <Button component="a" href="/openapi.json" variant="default">
          {say('landing.reference')}
        </Button>
      </Group>
    </Stack>
  );
}

/** A call that works here, of the first model that is offered. */
function FirstCall() {
  const say = useSay();
  const models = usePublicModels().data ?? [];
  const model = models.find(({ endpoints }) => endpoints.includes('chat'));
  const call = sampleBody('chat', model?.name ?? '…');
  return (
    <Panel title={say('landing.call')}>
      <Code text={curlSample({ ...call, endpoint: 'chat', origin: window.location.origin })} />
    </Panel>
  );
}

function PriceList() {
  const { say, language } = useText();
  const list = usePublicModels();
  return (
    <Panel title={say('landing.models')} flush>
      <Loaded query={list}>
        {(models) =>
          models.length === 0 ? (
            <Empty>{say('models.none')}</Empty>
          ) : (
            <Table
              label={say('landing.models')}
              rows={models}
              keyOf={(model) => model.name}
              columns={[
                {
                  label: say('models.model'),
                  cell: (model) => (
                    <Link to="/console/models/$" params={{ _splat: model.name }} className="mono">
                      {model.name}
                    </Link>
                  ),
                },
                { label: say('models.modality'), cell: (model) => say(`kind.${model.modality}`) },
                { label: say('models.price'), cell: (model) => rateWords(model.pricing, say, language) },
                {
                  label: say('landing.example'),
                  cell: (model) => {
                    const example = priceExamples(model.pricing, say, language).at(-1);
                    return example === undefined ? '–' : exampleText(example, say, language);
                  },
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
