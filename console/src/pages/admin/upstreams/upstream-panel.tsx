import { Box, Button, Group, Stack, Switch, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { Upstream, UpstreamLatency, UpstreamTest } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { State } from '../../../kit/badge.tsx';
import { useRefresh } from '../../../kit/confirm.tsx';
import { Fact, Facts } from '../../../kit/facts.tsx';
import { durationText } from '../../../kit/format.ts';
import { Notice } from '../../../kit/notice.tsx';
import { Problem } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { useSay, useText } from '../../../text.tsx';
import { BreakerState, LastFault } from './breaker.tsx';

const UPSTREAMS_PATH = '/api/admin/upstreams';

/** One upstream with its breaker and those of its models. */
export function UpstreamPanel({ upstream }: { readonly upstream: Upstream }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const isTroubled = upstream.health.last_fault !== null;
  return (
    <section className="panel" aria-label={upstream.id}>
      <Stack p="md" gap="md">
        <Group justify="space-between" gap="sm">
          <Group gap="sm">
            <Title order={2} className="mono">
              {upstream.id}
            </Title>
            {upstream.enabled ? (
              <BreakerState health={upstream.health} />
            ) : (
              <State tone="soft">{say('upstreams.disabled')}</State>
            )}
          </Group>
          {mayChange && <Actions upstream={upstream} />}
        </Group>
        {isTroubled && (
          <Box role="status">
            <LastFault health={upstream.health} />
          </Box>
        )}
        <UpstreamFacts upstream={upstream} />
        {upstream.models.length > 0 && (
          <Text size="sm">
            <span className="soft">{say('upstreams.models')} </span>
            <span className="mono">{upstream.models.join(', ')}</span>
          </Text>
        )}
      </Stack>
      <Models upstream={upstream} />
    </section>
  );
}

function UpstreamFacts({ upstream }: { readonly upstream: Upstream }) {
  const say = useSay();
  const vendor = upstream.dialect === null ? upstream.vendor : `${upstream.vendor} · ${upstream.dialect}`;
  return (
    <Facts>
      <Fact label={say('upstreams.vendor')}>{vendor}</Fact>
      <Fact label={say('upstreams.address')}>
        <span className="mono">{upstream.base_url ?? say('upstreams.local')}</span>
      </Fact>
      <Fact label={say('upstreams.secret')}>
        {say(upstream.has_secret ? 'upstreams.secretSet' : 'upstreams.secretNone')}
      </Fact>
      <Fact label={say('upstreams.groups')}>{upstream.groups.join(', ')}</Fact>
      <Fact label={say('upstreams.order')}>
        {say('upstreams.orderIs', { priority: upstream.priority, weight: upstream.weight })}
      </Fact>
      <Fact label={say('upstreams.timeout')}>{upstream.timeout_seconds} s</Fact>
      <Fact label={say('upstreams.attempts')}>{upstream.attempts_last_minute}</Fact>
    </Facts>
  );
}

function Models({ upstream }: { readonly upstream: Upstream }) {
  const say = useSay();
  if (upstream.upstream_models.length === 0) {
    return (
      <Text size="sm" className="soft" px="md" pb="md">
        {say('upstreams.noModels')}
      </Text>
    );
  }
  return (
    <Table
      label={say('upstreams.modelsOf', { id: upstream.id })}
      rows={upstream.upstream_models}
      keyOf={(model) => model.id}
      columns={[
        { label: say('upstreams.model'), cell: (model) => <span className="mono">{model.id}</span> },
        { label: say('upstreams.state'), cell: (model) => <BreakerState health={model.health} /> },
        { label: say('upstreams.latency'), cell: (model) => <Latency of={model.latency} /> },
        { label: say('upstreams.lastFault'), cell: (model) => <LastFault health={model.health} /> },
      ]}
    />
  );
}

/** Until a stream begins, and until a whole result; a dash until routing by speed has measured either. */
function Latency({ of }: { readonly of: UpstreamLatency }) {
  const { say, language } = useText();
  const parts = [
    ...(of.first_piece_ms === null
      ? []
      : [say('upstreams.begins', { time: durationText(of.first_piece_ms, language) })]),
    ...(of.result_ms === null ? [] : [durationText(of.result_ms, language)]),
  ];
  return <span className="num">{parts.length === 0 ? '–' : parts.join(' · ')}</span>;
}

function Actions({ upstream }: { readonly upstream: Upstream }) {
  const say = useSay();
  const refresh = useRefresh();
  const path = `${UPSTREAMS_PATH}/${upstream.id}`;
  const onSuccess = () => refresh([UPSTREAMS_PATH, '/api/admin/overview', '/api/admin/config']);
  const test = useMutation({ mutationFn: () => api<UpstreamTest>(`${path}/test`, { method: 'POST' }) });
  const reset = useMutation({ mutationFn: () => api(`${path}/reset`, { method: 'POST' }), onSuccess });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => api(path, { method: 'PATCH', body: { enabled } }),
    onSuccess,
  });
  const error = test.error ?? reset.error ?? enable.error;
  return (
    <>
      <Group gap="xs">
        <Button variant="default" size="compact-sm" loading={test.isPending} onClick={() => test.mutate()}>
          {say('upstreams.test')}
        </Button>
        <Button variant="default" size="compact-sm" loading={reset.isPending} onClick={() => reset.mutate()}>
          {say('upstreams.reset')}
        </Button>
        <Switch
          checked={upstream.enabled}
          disabled={enable.isPending}
          onChange={() => enable.mutate(!upstream.enabled)}
          label={say('upstreams.enabled')}
          aria-label={say('upstreams.enabledFor', { id: upstream.id })}
        />
      </Group>
      {error !== null && <Problem error={error} />}
      {test.data !== undefined && <TestResult result={test.data} />}
    </>
  );
}

/** What the upstream really answered, in place. */
function TestResult({ result }: { readonly result: UpstreamTest }) {
  const { say, language } = useText();
  return (
    <Box w="100%">
      <Notice tone={result.ok ? 'good' : 'bad'}>
        <strong>{say(result.ok ? 'upstreams.testOk' : 'upstreams.testFailed')}</strong> {result.what} ·{' '}
        {durationText(result.duration_ms, language)}
        {result.status !== null && ` · HTTP ${result.status}`}
        {result.code !== null && ` · ${result.code}`}
        {result.message !== null && <Text size="sm">{result.message}</Text>}
        {result.detail !== null && (
          <Text component="span" size="sm" className="soft" display="block" mt={4}>
            {result.detail}
          </Text>
        )}
      </Notice>
    </Box>
  );
}
