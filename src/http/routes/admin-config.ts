import { z } from 'zod';
import { applyDocument, type ConfigVersion, listVersions } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { DocumentError } from '../../configuration/index.ts';
import { ApiError } from '../../errors.ts';
import { CONFIG_BODY_BYTES_MAX } from '../../limits.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';

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

export function configAdminRoutes(routes: Routes, deps: HttpDeps): void {
  const { catalogue } = deps;

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
      await deps.health.saved();
      const { version, changes, warnings } = await refusingProblems(() => applyDocument(deps, actor, body));
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
      return page(query.limit, (limit) => listVersions(deps.db, limit, after), versionView);
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
