import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { MCP_BODY_BYTES_MAX } from '../../limits.ts';
import { answerMcp, MCP_SCOPES, type McpCall, type McpDeps, namedTool } from '../../mcp/index.ts';
import { protectedResource } from '../../oauth/index.ts';
import { newTrace } from '../../request-log/index.ts';
import type { HttpDeps } from '../deps.ts';
import { apiErrorOf } from '../edge/api-error.ts';
import { challengeFor, refuseUnscoped } from '../edge/authorize.ts';
import { recordIdOf } from '../edge/request-id.ts';
import { traceModel } from '../edge/request-line.ts';
import type { Routes } from '../edge/route.ts';
import { balanceView } from '../views/balance.ts';
import { errorSchema } from '../views/error.ts';
import { estimateView } from '../views/estimate.ts';
import { assetView, jobView } from '../views/jobs.ts';
import { modelView } from '../views/models.ts';
import { recordView } from '../views/transcriptions.ts';
import { callContext } from './call.ts';

const messageSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number()]).nullish(),
    method: z.string().optional(),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'McpMessage' });

const { MCP_PATH, METADATA_PATH, resourceMetadata } = protectedResource;
const RESOURCE = { path: MCP_PATH, scopes: MCP_SCOPES };

export function mcpRoutes(routes: Routes, server: FastifyInstance, deps: HttpDeps): void {
  const mcpDeps: McpDeps = {
    ...deps,
    views: {
      model: modelView,
      job: jobView,
      asset: assetView,
      transcription: recordView,
      balance: balanceView,
      estimate: estimateView,
    },
  };
  const origins = new Set([...deps.config.corsOrigins, deps.config.publicUrl]);

  routes.add(
    {
      method: 'POST',
      path: MCP_PATH,
      summary: 'Media as tools of the Model Context Protocol (Streamable HTTP, without sessions)',
      access: 'caller',
      scope: 'any',
      resource: RESOURCE,
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      body: { kind: 'json', schema: messageSchema, bytesMax: MCP_BODY_BYTES_MAX },
      answers: { 200: messageSchema, 202: null, 400: z.union([messageSchema, errorSchema]) },
      otherMedia: ['text/event-stream'],
      codes: ['foreign_origin', 'invalid_parameter'],
    },
    async ({ request, reply, body, caller }) => {
      const { origin } = request.headers;
      if (origin !== undefined && !origins.has(origin)) throw new ApiError('foreign_origin');
      const tool = namedTool(body);
      if (tool !== undefined) {
        if (tool.logged !== undefined) {
          request.loggedAs = tool.logged;
          request.trace = newTrace(request.span);
        }
        refuseUnscopedTool(deps, caller, tool.scope);
      }
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      reply.raw.setHeader('cache-control', 'private, no-store');
      await answerMcp(mcpDeps, mcpCallOf(deps, request, reply), request.raw, reply.raw, body);
      return reply;
    },
  );

  // Streams and sessions of clients of the older era, which take this for an answer.
  server.route({
    method: ['GET', 'DELETE'],
    url: MCP_PATH,
    handler: (_request, reply) => {
      const error = { code: -32_000, message: 'Method not allowed.' };
      return reply.code(405).header('allow', 'POST').send({ jsonrpc: '2.0', error, id: null });
    },
  });
  for (const url of [METADATA_PATH, METADATA_PATH + MCP_PATH]) {
    server.get(url, (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(resourceMetadata(deps.config.publicUrl, MCP_SCOPES)),
    );
  }
}

function refuseUnscopedTool(
  { config }: HttpDeps,
  caller: FastifyRequest['caller'],
  scope: Parameters<typeof refuseUnscoped>[1],
): void {
  try {
    refuseUnscoped(caller, scope);
  } catch (error) {
    throw challengeFor(error, RESOURCE, config.publicUrl);
  }
}

function mcpCallOf(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply): McpCall {
  return {
    ...callContext(request, reply),
    caller: request.caller,
    recordId: recordIdOf(request),
    noteModel: (model) => traceModel(request, model),
    refusalOf: (error) => {
      const refusal = apiErrorOf(error as Error);
      if (refusal.code === 'internal_error') {
        deps.log.error({ request_id: request.id, err: error }, 'unexpected error in a tool');
      }
      // The answer is a result with status 200, so that the log would not tell otherwise.
      reply.streamFault = refusal.code;
      return refusal;
    },
  };
}
