import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Environment } from '../src/config.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { Gateway, type GatewayOptions, type NewCaller } from './support/gateway.ts';
import { OtlpReceiver, type ReceivedSpan } from './support/otlp-receiver.ts';
import { chatBody, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { Studio } from './support/studio.ts';

const CHAT = '/v1/chat/completions';
const ROOT = `POST ${CHAT}`;
const CALLERS = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const TRACEPARENT = `00-${CALLERS.traceId}-${CALLERS.spanId}-01`;
const SECRET_PROMPT = 'the prompt that no span may tell';
const [SERVER, CLIENT, INTERNAL] = [2, 3, 1];
const ERROR = 2;

const receiver = new OtlpReceiver();
const first = new OpenAiEmulator();
const second = new OpenAiEmulator();
let gateway: Gateway;
let caller: NewCaller;

function traced(more: Environment = {}): Pick<GatewayOptions, 'settings'> {
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-receiver-key=hush%20hush',
    OTEL_SERVICE_NAME: 'gate-1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    ...more,
  };
  return { settings };
}

before(async () => {
  // Read by the library itself: what is gathered is sent after this many milliseconds.
  process.env.OTEL_BSP_SCHEDULE_DELAY = '50';
  await Promise.all([receiver.start(), first.start(), second.start()]);
  gateway = await Gateway.start(traced());
  caller = await paidCaller(gateway);
  await gateway.putConfig({
    upstreams: [
      { id: 'first', vendor: 'openai', base_url: first.url, api_key: 'upstream-secret', priority: 1 },
      { id: 'second', vendor: 'openai', base_url: second.url },
    ],
    models: [tokenModel('talker', ['first', 'second'])],
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all([receiver.stop(), first.stop(), second.stop()]);
});
beforeEach(() => {
  first.requests.length = 0;
});

function chat(more: Record<string, unknown> = {}, headers: Record<string, string> = {}, at = gateway) {
  const body = { ...chatBody('talker', more), messages: [{ role: 'user', content: SECRET_PROMPT }] };
  return at.call('POST', CHAT, { key: caller.key, body, headers });
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, `${name} in ${spans.map((span) => span.name).join()}`);
  return found[0] ?? assert.fail();
}

for (const stream of [false, true]) {
  test(`R-529: a trace joins caller, attempt and upstream, ${stream ? 'streamed' : 'whole'}`, async () => {
    const { headers } = await chat({ stream });
    const id = headers['x-request-id'];
    await until(async () => (await receiver.trace(ROOT, { 'tollgate.request_id': id })).length === 5);
    const spans = await receiver.trace(ROOT, { 'tollgate.request_id': id });
    const [root, attempt, call] = [named(spans, ROOT), named(spans, 'attempt'), named(spans, 'POST')];
    assert.deepEqual([root.kind, attempt.kind, call.kind], [SERVER, INTERNAL, CLIENT]);
    assert.deepEqual(
      [root.parentSpanId, attempt.parentSpanId, call.parentSpanId],
      [undefined, root.spanId, attempt.spanId],
    );
    for (const name of ['hold', 'settle']) assert.equal(named(spans, name).parentSpanId, root.spanId);
    assert.equal(root.attributes['http.route'], CHAT);
    assert.equal(root.attributes['http.response.status_code'], 200);
    assert.equal(root.attributes['gen_ai.request.model'], 'talker');
    assert.equal(attempt.attributes['tollgate.upstream'], 'first');
    assert.equal(call.attributes['http.response.status_code'], 200);
    assert.ok(Number(named(spans, 'settle').attributes['gen_ai.usage.output_tokens']) > 0);
    assert.equal(root.status.code ?? 0, 0);
    assert.deepEqual([root.resource['service.name'], root.resource['deployment.environment.name']], ['gate-1', 'test']);
    assert.equal(receiver.headers.at(-1)?.['x-receiver-key'], 'hush hush');
  });
}

test('R-529: a failover is an event of the request and a failed attempt', async () => {
  first.script({ kind: 'error', error: 'broken' }, { kind: 'error', error: 'broken' });
  const { headers, status } = await chat();
  assert.equal(status, 200);
  const spans = await receiver.trace(ROOT, { 'tollgate.request_id': headers['x-request-id'] });
  const root = named(spans, ROOT);
  const failover = root.events.filter(({ name }) => name === 'failover');
  assert.deepEqual(
    failover.map(({ attributes }) => [attributes['tollgate.failed_upstream'], attributes['error.type']]),
    [['first', 'server']],
  );
  const attempts = spans.filter(({ name }) => name === 'attempt');
  assert.deepEqual(
    attempts.map(({ attributes, status: end }) => [attributes['tollgate.upstream'], end.code ?? 0]),
    [
      ['first', ERROR],
      ['second', 0],
    ],
  );
});

test('R-529: a request that ends with an error is one, with its code', async () => {
  first.script(...Array(3).fill({ kind: 'error', error: 'broken' }));
  second.script(...Array(3).fill({ kind: 'error', error: 'broken' }));
  const { headers, status } = await chat();
  assert.equal(status, 502);
  const root = named(await receiver.trace(ROOT, { 'tollgate.request_id': headers['x-request-id'] }), ROOT);
  assert.deepEqual([root.status.code, root.attributes['error.type']], [ERROR, 'upstream_failed']);
  await gateway.admin('POST', '/upstreams/first/reset');
  await gateway.admin('POST', '/upstreams/second/reset');
});

test('R-111, R-529: the caller’s trace is gone on with, and no upstream is told of it', async () => {
  const { headers } = await chat({}, { traceparent: TRACEPARENT, tracestate: 'vendor=1' });
  const spans = await receiver.trace(ROOT, { 'tollgate.request_id': headers['x-request-id'] });
  const root = named(spans, ROOT);
  assert.deepEqual([root.traceId, root.parentSpanId], [CALLERS.traceId, CALLERS.spanId]);
  for (const { headers: sent } of first.requests) {
    assert.deepEqual([sent.traceparent, sent.tracestate], [undefined, undefined]);
  }
});

test('R-529: a caller’s trace that is not sampled stays so, and one that is garbled is none', async () => {
  const off = await chat({}, { traceparent: TRACEPARENT.replace(/01$/, '00') });
  const garbled = await chat({}, { traceparent: `${TRACEPARENT}-x` });
  const spans = await receiver.trace(ROOT, { 'tollgate.request_id': garbled.headers['x-request-id'] });
  assert.notEqual(named(spans, ROOT).traceId, CALLERS.traceId);
  const unsampled = off.headers['x-request-id'];
  assert.ok(!receiver.spans.some(({ attributes }) => attributes['tollgate.request_id'] === unsampled));
});

test('R-529: by setting, upstreams are told of the attempt', async () => {
  const telling = await Gateway.start({ ...traced({ TOLLGATE_TRACE_UPSTREAMS: '1' }), database: gateway.database });
  try {
    const { headers } = await chat({}, {}, telling);
    const spans = await receiver.trace(ROOT, { 'tollgate.request_id': headers['x-request-id'] });
    const { traceId, spanId } = named(spans, 'POST');
    assert.equal(first.requests.at(-1)?.headers.traceparent, `00-${traceId}-${spanId}-01`);
  } finally {
    await telling.stop();
  }
});

test('R-529: a sampler of a ratio of nothing makes no spans, and so does a disabled SDK', async () => {
  for (const settings of [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    { OTEL_TRACES_SAMPLER: 'always_off' },
    { OTEL_SDK_DISABLED: 'true' },
    { OTEL_TRACES_EXPORTER: 'none' },
  ]) {
    const quiet = await Gateway.start({ ...traced(settings), database: gateway.database });
    const { headers } = await chat({}, { traceparent: TRACEPARENT }, quiet);
    await quiet.stop();
    const id = headers['x-request-id'];
    assert.ok(
      !receiver.spans.some(({ attributes }) => attributes['tollgate.request_id'] === id),
      JSON.stringify(settings),
    );
  }
});

test('R-529: metrics are pushed, the same as Prometheus would read', async () => {
  const metrics = () => receiver.pushes.at(-1)?.resourceMetrics[0].scopeMetrics[0].metrics ?? [];
  const find = (name: string) => metrics().find((metric: { name: string }) => metric.name === name);
  await until(async () => (find('tollgate_requests_total')?.sum.dataPoints.length ?? 0) > 0);
  assert.equal(find('tollgate_requests_total').sum.isMonotonic, true);
  const [point] = find('tollgate_request_duration_seconds').histogram.dataPoints;
  assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1);
  assert.equal(
    point.bucketCounts.reduce((sum: number, count: string) => sum + Number(count), 0),
    Number(point.count),
  );
  assert.ok(find('process_resident_memory_bytes').gauge.dataPoints[0].asDouble > 0);
});

test('R-529: a job’s later steps are traces of their own, linked to the request that created it', async () => {
  const studio = new Studio();
  // Only what the caller's own trace asks for is sampled, and what that causes.
  await studio.start(traced({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }));
  try {
    const painter = await paidCaller(studio.gateway);
    const headers = { traceparent: TRACEPARENT };
    const job = await studio.create(
      painter,
      '/v1/images/generations',
      { model: 'studio/direct', prompt: SECRET_PROMPT },
      headers,
    );
    await studio.ended(painter, job.id);
    const dispatch = named(await receiver.trace('job dispatch', { 'tollgate.job_id': job.id }), 'job dispatch');
    const created = receiver.spans.find(
      ({ name, traceId }) => name === 'POST /v1/images/generations' && traceId === CALLERS.traceId,
    );
    assert.deepEqual(
      dispatch.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[CALLERS.traceId, created?.spanId]],
    );
    assert.notEqual(dispatch.traceId, CALLERS.traceId);
    const attempt = receiver.spans.find(({ name, traceId }) => name === 'attempt' && traceId === dispatch.traceId);
    assert.equal(attempt?.parentSpanId, dispatch.spanId);
    await receiver.trace('job end', { 'tollgate.job_id': job.id });
  } finally {
    await studio.stop();
  }
});

test('R-111, R-529: no secret, prompt or body is in what is sent', () => {
  assert.ok(receiver.spans.length > 0);
  for (const word of [SECRET_PROMPT, caller.key, 'upstream-secret', 'hush hush', gateway.database.url]) {
    assert.ok(!receiver.text.includes(word), word);
  }
});

test('R-529: with the receiver away calls are answered as ever, and a stop does not wait for it', async () => {
  receiver.status = 503;
  const away = await Gateway.start({
    ...traced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }),
    database: gateway.database,
  });
  const refused = await Gateway.start({ ...traced(), database: gateway.database });
  try {
    for (const at of [away, refused]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => chat({}, {}, at)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    }
  } finally {
    await away.stop();
    await refused.stop();
    receiver.status = 200;
  }
});
