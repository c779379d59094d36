import { z } from 'zod';
import { type Snapshot, setUpstreamEnabled } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { type BreakerView, upstreamModels, upstreamTests } from '../../routing/index.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, type Routes } from '../edge/route.ts';
import { callContext } from './call.ts';

const breakerSchema = z
  .strictObject({
    state: z.enum(['closed', 'open', 'half_open']).describe('Open: no request but probes. Half-open: the next is one.'),
    strikes: z.int().describe('Requests in a row that failed.'),
    next_probe_at: z.int().nullable(),
    last_fault: z.string().nullable(),
    last_detail: z.string().nullable().describe('The upstream’s own words, without secrets.'),
    last_fault_at: z.int().nullable(),
  })
  .meta({ id: 'Breaker' });

const latencySchema = z
  .strictObject({
    first_piece_ms: z.int().nullable().describe('Until an answer that streams begins.'),
    result_ms: z.int().nullable().describe('Until a whole answer, or the result of a job.'),
  })
  .meta({ id: 'UpstreamLatency' });

const upstreamSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('upstream'),
    vendor: z.string(),
    base_url: z.string().nullable(),
    dialect: z.string().nullable().describe('As configured; null goes by the host.'),
    has_secret: z.boolean(),
    groups: z.array(z.string()),
    priority: z.int(),
    weight: z.number(),
    timeout_seconds: z.number(),
    enabled: z.boolean(),
    models: z.array(z.string()).describe('The models that have a route here.'),
    attempts_last_minute: z.int().describe('Of this process.'),
    health: breakerSchema.describe('Of the upstream as a whole: its credential and balance.'),
    upstream_models: z
      .array(
        z.strictObject({
          id: z.string(),
          health: breakerSchema,
          latency: latencySchema.describe('As this process has measured it, where `routing` is `fastest`.'),
        }),
      )
      .describe('Every model on its wire that a route leads to.'),
  })
  .meta({ id: 'Upstream' });

const upstreamList = z.strictObject({
  ...listOf(upstreamSchema).shape,
  models_without_candidate: z.array(z.string()).describe('Models whose every enabled route has an open breaker.'),
});

const nullable = {
  status: z.int().nullable().describe('Of its HTTP answer; null when there was none.'),
  code: z.string().nullable().describe('What kind of fault it was.'),
  problem: z.enum(upstreamTests.PROBLEMS).nullable().describe('What the operator has to mend.'),
  message: z.string().nullable().describe('The same in words, or why a call was not made.'),
  detail: z.string().nullable().describe('The upstream’s own words, without secrets.'),
};

const testedCallSchema = z
  .strictObject({
    kind: z.enum([...upstreamTests.TEST_KINDS, 'credential', 'connection']).describe('The kind of work.'),
    ok: z.boolean().nullable().describe('Null where the call was not made.'),
    what: z.string().describe('What was asked of it.'),
    duration_ms: z.int(),
    ...nullable,
  })
  .meta({ id: 'UpstreamTestCall' });

const testSchema = z
  .strictObject({
    object: z.literal('upstream_test'),
    upstream_id: z.string(),
    ok: z.boolean().describe('Whether every call that was made did what it should.'),
    what: z.string().describe('What was asked of it by the call that failed first, else by the first.'),
    duration_ms: z.int(),
    ...nullable,
    calls: z.array(testedCallSchema).describe('One for each kind of work that it is configured for.'),
  })
  .meta({ id: 'UpstreamTest' });

const modelsSchema = z
  .strictObject({
    object: z.literal('upstream_models'),
    upstream_id: z.string(),
    can_tell: z.boolean().describe('Whether its vendor has a call that lists models.'),
    ...nullable,
    data: z.array(
      z.strictObject({
        id: z.string().describe('As a route names it.'),
        used_by: z.array(z.string()).describe('The models of the configuration that lead to it.'),
      }),
    ),
    unlisted: z.array(z.string()).describe('Names in routes that the upstream did not list.'),
    has_more: z.boolean().describe('Whether it has more than was read.'),
  })
  .meta({ id: 'UpstreamModels' });

const testQuery = z.object({
  media: z.stringbool().optional().describe('Also make a picture, a clip and music where it is configured for them.'),
});

const upstreamChange = z.strictObject({ enabled: z.boolean() });

/** Upstreams as they are configured, with their health. */
export function upstreamAdminRoutes(routes: Routes, deps: HttpDeps): void {
  const { catalogue } = deps;

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/upstreams',
      summary: 'The configured upstreams',
      access: 'operator',
      answers: { 200: upstreamList },
    },
    () => ({
      object: 'list',
      data: upstreamViews(catalogue.snapshot, deps),
      has_more: false,
      models_without_candidate: deps.health.modelsWithoutCandidate(catalogue.snapshot),
    }),
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/upstreams/{upstream_id}',
      summary: 'Enable or disable an upstream; enabling closes its breakers',
      access: 'operator',
      body: { kind: 'json', schema: upstreamChange, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: upstreamSchema },
      codes: ['upstream_not_found'],
    },
    async ({ param, body, actor }) => {
      await deps.health.saved();
      await setUpstreamEnabled(deps, actor, param('upstream_id'), body.enabled);
      await Promise.all([catalogue.reload(), deps.health.load()]);
      return upstreamView(deps, param('upstream_id'));
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/upstreams/{upstream_id}/reset',
      summary: 'Close every breaker of an upstream',
      access: 'operator',
      answers: { 200: upstreamSchema },
      codes: ['upstream_not_found'],
    },
    async ({ param, actor }) => {
      if (!catalogue.snapshot.upstreams.has(param('upstream_id'))) throw new ApiError('upstream_not_found');
      await deps.health.reset(param('upstream_id'), actor);
      return upstreamView(deps, param('upstream_id'));
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/upstreams/{upstream_id}/test',
      summary: 'Ask an upstream for the least of each kind of work that it is configured for; no breaker changes',
      access: 'operator',
      query: testQuery,
      answers: { 200: testSchema },
      codes: ['upstream_not_found'],
    },
    async ({ param, query, request, reply }) => {
      const { signal } = callContext(request, reply);
      const terms = { left: signal, isDear: query.media === true };
      return testView(param('upstream_id'), await upstreamTests.testUpstream(deps, param('upstream_id'), terms));
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/upstreams/{upstream_id}/models',
      summary: 'What an upstream offers, as far as it can say, and what of it is used',
      access: 'operator',
      answers: { 200: modelsSchema },
      codes: ['upstream_not_found'],
    },
    async ({ param, request, reply }) => {
      const { signal } = callContext(request, reply);
      const id = param('upstream_id');
      return modelsView(id, await upstreamModels.listUpstreamModels(deps, id, signal));
    },
  );
}

function modelsView(upstreamId: string, listed: upstreamModels.UpstreamModels): z.infer<typeof modelsSchema> {
  const { canTell, failure, models, unlisted, hasMore } = listed;
  return {
    object: 'upstream_models',
    upstream_id: upstreamId,
    can_tell: canTell,
    status: failure?.status ?? null,
    code: failure?.fault ?? null,
    problem: failure?.problem ?? null,
    message: canTell ? (failure?.message ?? null) : CANNOT_TELL,
    detail: failure?.detail ?? null,
    data: models.map(({ id, usedBy }) => ({ id, used_by: [...usedBy] })),
    unlisted: [...unlisted],
    has_more: hasMore,
  };
}

const CANNOT_TELL =
  'The vendor of this upstream has no call that lists models. Its documentation names them; a test tells whether one works.';

function testView(upstreamId: string, { ok, calls }: upstreamTests.UpstreamTest): z.infer<typeof testSchema> {
  const { kind: _kind, ok: _ok, ...decisive } = testedCallView(calls.find((call) => call.ok === false) ?? calls[0]);
  return { object: 'upstream_test', upstream_id: upstreamId, ok, ...decisive, calls: calls.map(testedCallView) };
}

function testedCallView(call: upstreamTests.TestedCall): z.infer<typeof testedCallSchema> {
  return {
    kind: call.kind,
    ok: call.ok ?? null,
    what: call.what,
    duration_ms: call.durationMs,
    status: call.status ?? null,
    code: call.fault ?? null,
    problem: call.problem ?? null,
    message: call.message ?? null,
    detail: call.detail ?? null,
  };
}

function upstreamView(deps: HttpDeps, id: string): z.infer<typeof upstreamSchema> {
  const view = upstreamViews(deps.catalogue.snapshot, deps).find((upstream) => upstream.id === id);
  if (view === undefined) throw new ApiError('upstream_not_found');
  return view;
}

function breakerView(view: BreakerView): z.infer<typeof breakerSchema> {
  return {
    state: view.state,
    strikes: view.strikes,
    next_probe_at: view.nextProbeAt === null ? null : Math.ceil(view.nextProbeAt.getTime() / 1000),
    last_fault: view.lastFault,
    last_detail: view.lastDetail,
    last_fault_at: view.lastFaultAt === null ? null : unixSeconds(view.lastFaultAt),
  };
}

function upstreamViews(snapshot: Snapshot, { health }: HttpDeps): z.infer<typeof upstreamSchema>[] {
  const {
    document: { upstreams, models },
    secrets,
  } = snapshot;
  return upstreams.map((upstream) => ({
    id: upstream.id,
    object: 'upstream',
    vendor: upstream.vendor,
    base_url: upstream.base_url ?? null,
    dialect: upstream.dialect ?? null,
    has_secret: secrets.has(upstream.id),
    groups: upstream.groups,
    priority: upstream.priority,
    weight: upstream.weight,
    timeout_seconds: upstream.timeout_seconds,
    enabled: upstream.enabled,
    models: models.filter(({ routes }) => routes.some((route) => route.upstream === upstream.id)).map(({ id }) => id),
    attempts_last_minute: health.attemptsLastMinute(upstream.id),
    health: breakerView(health.view(upstream.id)),
    upstream_models: snapshot.wireModels(upstream.id).map((id) => ({
      id,
      health: breakerView(health.view(upstream.id, id)),
      latency: {
        first_piece_ms: health.latencies.shown(upstream.id, id, 'first piece'),
        result_ms: health.latencies.shown(upstream.id, id, 'result'),
      },
    })),
  }));
}
