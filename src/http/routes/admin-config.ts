import { z } from 'zod';
import {
  applyDocument,
  type ConfigVersion,
  listVersions,
  type Snapshot,
  setUpstreamEnabled,
} from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { DocumentError } from '../../configuration/index.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX, CONFIG_BODY_BYTES_MAX } from '../../limits.ts';
import { pageQuery } from '../fields.ts';
import type { HttpParts } from '../parts.ts';
import { listOf, page, type Routes } from '../route.ts';

const document = z.strictObject({
  upstreams: z.array(z.record(z.string(), z.unknown())),
  models: z.array(z.record(z.string(), z.unknown())),
});

const appliedSchema = z.strictObject({
  object: z.literal('config'),
  version: z.int(),
  changes: z.array(z.string()).describe('One line each; empty when nothing changed.'),
  warnings: z.array(z.string()).describe('What is lawful and probably not meant; empty when nothing is.'),
});

const versionSchema = z
  .strictObject({
    object: z.literal('config_version'),
    version: z.int(),
    source: z.enum(['file', 'built-in', 'operator']),
    applied_at: z.int(),
    document,
  })
  .meta({ id: 'ConfigVersion' });

const upstreamSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('upstream'),
    vendor: z.string(),
    base_url: z.string().nullable(),
    has_secret: z.boolean(),
    groups: z.array(z.string()),
    priority: z.int(),
    weight: z.number(),
    timeout_seconds: z.number(),
    enabled: z.boolean(),
    models: z.array(z.string()).describe('The models that have a route here.'),
    health: z.strictObject({
      status: z.enum(['ok', 'cooling']),
      cooling_until: z.int().nullable(),
      strikes: z.int().describe('Faults in a row.'),
      last_fault: z.string().nullable(),
      last_detail: z.string().nullable().describe('The upstream’s own words.'),
      last_fault_at: z.int().nullable(),
      attempts_last_minute: z.int().describe('Of this process.'),
    }),
  })
  .meta({ id: 'Upstream' });

const upstreamChange = z.strictObject({ enabled: z.boolean() });

export function configAdminRoutes(routes: Routes, parts: HttpParts): void {
  const { catalogue } = parts;

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/config',
      summary: 'The configuration in force, with secrets masked',
      access: 'operator',
      answers: { 200: document },
    },
    () => catalogue.snapshot.document,
  );

  routes.add(
    {
      method: 'PUT',
      path: '/api/admin/config',
      summary: 'Put a configuration in force, whole or not at all',
      access: 'operator',
      body: {
        kind: 'text',
        contentTypes: ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain'],
        bytesMax: CONFIG_BODY_BYTES_MAX,
      },
      answers: { 200: appliedSchema },
      codes: ['invalid_config'],
    },
    async ({ body, actor }) => {
      const { version, changes, warnings } = await refusingProblems(() => applyDocument(parts, actor, body));
      await catalogue.reload();
      return { object: 'config', version: Number(version), changes, warnings: [...warnings] };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/config/versions',
      summary: 'Every configuration that was ever in force, newest first',
      access: 'operator',
      query: pageQuery.extend({ after: z.coerce.number().int().min(0).optional() }),
      answers: { 200: listOf(versionSchema) },
    },
    ({ query }) => {
      const after = query.after === undefined ? undefined : BigInt(query.after);
      return page(query.limit, (limit) => listVersions(parts.db, limit, after), versionView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/upstreams',
      summary: 'The configured upstreams',
      access: 'operator',
      answers: { 200: listOf(upstreamSchema) },
    },
    () => ({ object: 'list', data: upstreamViews(catalogue.snapshot, parts), has_more: false }),
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/upstreams/{upstream_id}',
      summary: 'Enable or disable an upstream',
      access: 'operator',
      body: { kind: 'json', schema: upstreamChange, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: upstreamSchema },
      codes: ['upstream_not_found'],
    },
    async ({ param, body, actor }) => {
      await setUpstreamEnabled(parts, actor, param('upstream_id'), body.enabled);
      await catalogue.reload();
      const view = upstreamViews(catalogue.snapshot, parts).find((upstream) => upstream.id === param('upstream_id'));
      if (view === undefined) throw new ApiError('upstream_not_found');
      return view;
    },
  );
}

async function refusingProblems<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DocumentError) throw new ApiError('invalid_config', { message: error.message, cause: error });
    throw error;
  }
}

function versionView(version: ConfigVersion): z.infer<typeof versionSchema> {
  return {
    object: 'config_version',
    version: Number(version.version),
    source: version.source,
    applied_at: unixSeconds(version.appliedAt),
    document: version.document,
  };
}

function healthView({ health, clock }: HttpParts, upstreamId: string): z.infer<typeof upstreamSchema>['health'] {
  const { coolingUntil, strikes, lastFault, lastDetail, lastFaultAt, attemptsLastMinute } = health.of(upstreamId);
  const isCooling = coolingUntil !== null && coolingUntil > clock.now();
  return {
    status: isCooling ? 'cooling' : 'ok',
    cooling_until: isCooling ? unixSeconds(coolingUntil) : null,
    strikes,
    last_fault: lastFault,
    last_detail: lastDetail,
    last_fault_at: lastFaultAt === null ? null : unixSeconds(lastFaultAt),
    attempts_last_minute: attemptsLastMinute,
  };
}

function upstreamViews(
  { document: { upstreams, models }, secrets }: Snapshot,
  parts: HttpParts,
): z.infer<typeof upstreamSchema>[] {
  return upstreams.map((upstream) => ({
    id: upstream.id,
    object: 'upstream',
    vendor: upstream.vendor,
    base_url: upstream.base_url ?? null,
    has_secret: secrets.has(upstream.id),
    groups: upstream.groups,
    priority: upstream.priority,
    weight: upstream.weight,
    timeout_seconds: upstream.timeout_seconds,
    enabled: upstream.enabled,
    models: models.filter(({ routes }) => routes.some((route) => route.upstream === upstream.id)).map(({ id }) => id),
    health: healthView(parts, upstream.id),
  }));
}
