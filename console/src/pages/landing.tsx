import { Box, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api } from '../api/client.ts';
import type { PublicList } from '../api/schema.ts';
import { useSession } from '../api/session.ts';
import { Panel } from '../kit/page.tsx';
import { Empty, Loaded } from '../kit/states.tsx';
import { Table } from '../kit/table.tsx';
import { Brand } from '../shell/brand.tsx';
import { Controls } from '../shell/controls.tsx';
import { useSay } from '../text.tsx';

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
        <Group justify="space-between" mb="xl">
          <Brand />
          <Controls session={null} />
        </Group>
        <Stack gap="xl" component="main">
          <Stack gap="md" maw="42rem">
            <Title order={1} fz={{ base: '1.75rem', sm: '2.25rem' }}>
              {say('landing.title')}
            </Title>
            <Text size="lg" className="soft">
              {say('landing.about')}
            </Text>
            <Group>
              <Button component="a" href="/sign-in">
                {say('shell.signIn')}
              </Button>
              <Button component="a" href="/openapi.json" variant="default">
                {say('landing.reference')}
              </Button>
            </Group>
          </Stack>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            {(['one', 'exact', 'durable'] as const).map((point) => (
              <Panel key={point} title={say(`landing.${point}`)}>
                <Text size="sm">{say(`landing.${point}About`)}</Text>
              </Panel>
            ))}
          </SimpleGrid>
          <Prices />
        </Stack>
      </Box>
    </>
  );
}

function Prices() {
  const say = useSay();
  const list = useQuery({
    queryKey: ['/api/hub/public/models'],
    queryFn: ({ signal }) => api<PublicList>('/api/hub/public/models', { signal }),
  });
  return (
    <Panel title={say('landing.models')} flush>
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>{say('models.none')}</Empty>
          ) : (
            <Table
              label={say('landing.models')}
              rows={data}
              keyOf={(model) => model.name}
              columns={[
                {
                  label: say('models.model'),
                  cell: (model) => (
                    <Link to="/console/models" search={{ model: model.name } as never} className="mono">
                      {model.name}
                    </Link>
                  ),
                },
                { label: say('models.modality'), cell: (model) => model.modality },
                { label: say('models.price'), cell: (model) => model.pricing.unit },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
