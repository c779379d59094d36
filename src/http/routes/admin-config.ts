import { z } from 'zod';
import { callsOf, comparePrices } from '../../calls/index.ts';
import { applyDocument, applyVersion, checkDocument, findVersion, listVersions } from '../../catalogue/index.ts';
import {
  DocumentError,
  documentJsonSchema,
  ENDPOINTS,
  parseSourceAsync,
  writeYaml,
} from '../../configuration/index.ts';
import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { COMPARED_CALLS_MAX, CONFIG_BODY_BYTES_MAX } from '../../limits.ts';
import type { RouteBody } from '../contract/contract.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import {
  appliedSchema,
  checkSchema,
  comparisonSchema,
  comparisonView,
  documentSchema,
  problemView,
  versionSchema,
  versionSummarySchema,
  versionSummaryView,
  versionView,
} from '../views/config.ts';

const DOCUMENT_BODY = {
  kind: 'text',
  contentTypes: ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain'],
  bytesMax: CONFIG_BODY_BYTES_MAX,
} as const satisfies RouteBody;

const comparisonBody = z.strictObject({
  document: z.union([z.string(), documentSchema]).describe('YAML or JSON as text, or the document itself.'),
  calls: z
    .array(z.looseObject({ endpoint: z.enum(ENDPOINTS), model: z.string() }))
    .max(COMPARED_CALLS_MAX)
    .optional()
    .describe('Bodies as `POST /v1/estimate` takes them; without any, typical calls of every model.'),
});

/** Reading, checking and applying the configuration document. */
export function configAdminRoutes(routes: Routes, deps: HttpDeps): void {
  const { catalogue } = deps;
  const apply = async (work: () => ReturnType<typeof applyDocument>) => {
    await deps.health.saved();
    const { version, changes, warnings } = await refusingProblems(work);
    await catalogue.reload();
    return { object: 'config', version: Number(version), changes, warnings: [...warnings] };
  };

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/config',
      summary: 'The configuration in force, with secrets masked',
      access: 'operator',
      query: z.object({ format: z.enum(['json', 'yaml']).default('json') }),
      answers: { 200: documentSchema },
      otherMedia: ['application/yaml'],
    },
    ({ query, reply }) => {
      const { document } = catalogue.snapshot;
      if (query.format === 'json') return document;
      return reply.type('application/yaml; charset=utf-8').send(writeYaml(document));
    },
  );

  routes.add(
    {
      method: 'PUT',
      path: '/api/admin/config',
      summary: 'Put a configuration in force, whole or not at all',
      access: 'operator',
      body: DOCUMENT_BODY,
      answers: { 200: appliedSchema },
      codes: ['invalid_config'],
    },
    ({ body, actor }) => apply(() => applyDocument(deps, actor, body)),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/config/schema',
      summary: 'What a configuration may hold, as JSON Schema made from what checks it',
      access: 'operator',
      answers: { 200: z.record(z.string(), z.unknown()) },
    },
    () => documentJsonSchema(deps.vendors.terms),
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/config/check',
      summary: 'Every problem of a configuration, or what applying it would change; applies nothing',
      access: 'operator',
      body: DOCUMENT_BODY,
      answers: { 200: checkSchema },
    },
    async ({ body }) => {
      const found = await checkDocument(deps, body);
      if ('problems' in found) {
        const problems = found.problems.map(problemView);
        return { object: 'config_check', valid: false, problems, changes: [], warnings: [] };
      }
      return { object: 'config_check', valid: true, problems: [], ...found };
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/config/estimate',
      summary: 'What calls cost now, and would cost under a configuration; applies nothing',
      access: 'operator',
      body: { kind: 'json', schema: comparisonBody, bytesMax: CONFIG_BODY_BYTES_MAX },
      answers: { 200: comparisonSchema },
      codes: ['invalid_config'],
    },
    async ({ body }) => {
      const text = typeof body.document === 'string' ? body.document : JSON.stringify(body.document);
      const { document: after } = await refusingProblems(() => parseSourceAsync(text, deps.vendors.terms));
      const before = catalogue.snapshot.document;
      const calls = body.calls?.map(givenCall) ?? callsOf(before, after);
      const compared = comparePrices(before, after, calls.slice(0, COMPARED_CALLS_MAX));
      return {
        object: 'config_estimate',
        data: compared.map(comparisonView),
        has_more: calls.length > COMPARED_CALLS_MAX,
      };
    },
  );

  versionRoutes(routes, deps, apply);
}

type Apply = (work: () => ReturnType<typeof applyDocument>) => Promise<object>;

function versionRoutes(routes: Routes, deps: HttpDeps, apply: Apply): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/config/versions',
      summary: 'Every configuration that was ever in force, newest first, without the documents',
      access: 'operator',
      query: pageQuery.extend({ after: z.coerce.number().int().min(0).optional() }),
      answers: { 200: listOf(versionSummarySchema) },
    },
    ({ query }) => {
      const after = query.after === undefined ? undefined : BigInt(query.after);
      return page(query.limit, (limit) => listVersions(deps.db, limit, after), versionSummaryView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/config/versions/{version}',
      summary: 'One configuration that was in force, with its document',
      access: 'operator',
      query: z.object({ format: z.enum(['json', 'yaml']).default('json') }),
      answers: { 200: versionSchema },
      otherMedia: ['application/yaml'],
      codes: ['config_version_not_found'],
    },
    async ({ param, query, reply }) => {
      const version = await findVersion(deps.db, versionOf(param('version')));
      if (version === undefined) throw new ApiError('config_version_not_found');
      if (query.format === 'json') return versionView(version);
      return reply.type('application/yaml; charset=utf-8').send(writeYaml(version.document));
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/config/versions/{version}/apply',
      summary: 'Put an earlier configuration in force again, as a new version',
      access: 'operator',
      answers: { 200: appliedSchema },
      codes: ['config_version_not_found', 'invalid_config'],
    },
    ({ param, actor }) => apply(() => applyVersion(deps, actor, versionOf(param('version')))),
  );
}

function versionOf(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new ApiError('config_version_not_found');
  return BigInt(text);
}

function givenCall({ endpoint, model, ...body }: NonNullable<z.output<typeof comparisonBody>['calls']>[number]) {
  return { endpoint, model, body: body as JsonObject, label: `${endpoint} as given` };
}

async function refusingProblems<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DocumentError) throw new ApiError('invalid_config', { message: error.message, cause: error });
    throw error;
  }
}
