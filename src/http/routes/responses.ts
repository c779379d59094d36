import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { prepareResponse } from '../../calls/index.ts';
import { responsesSchema, toResponsesRequest } from '../../formats/index.ts';
import { CHAT_BODY_BYTES_MAX } from '../../limits.ts';
import { FACADE } from '../contract/facade.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { answerChat } from './answer-chat.ts';
import { CALL_CODES } from './call.ts';
import { PromptFiles } from './prompt-files.ts';

const responseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    model: z.string(),
    output: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    usage: z.looseObject({
      input_tokens: z.int(),
      output_tokens: z.int(),
      total_tokens: z.int(),
      credits: z.number().describe('What the call cost.'),
    }),
  })
  .meta({ id: 'Response' });

export function responseRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/responses',
      summary: 'Chat in the responses format, whole or streamed',
      access: 'caller',
      scope: 'user:inference:chat',
      console: 'run',
      logged: 'chat',
      example: { model: 'sandbox/chat', input: 'What is 12 * 7?' },
      body: { kind: 'json', schema: responsesSchema, bytesMax: CHAT_BODY_BYTES_MAX },
      answers: { 200: responseSchema },
      otherMedia: ['text/event-stream'],
      codes: [...CALL_CODES, 'missing_model', 'missing_input', 'item_not_found', 'file_not_found', 'file_too_large'],
    },
    async ({ body, exact, ...call }) => {
      const request = await new PromptFiles(deps, call.caller).inResponse(toResponsesRequest(body, exact()));
      const { chat, format } = await prepareResponse(deps, call.caller, request);
      return answerChat(deps, call, chat, format);
    },
  );
}

/**
 * A client that tries a WebSocket first turns to POST at once when it is refused so, and after many tries when it finds
 * nothing. No route of the contract: what is upgraded is the connection.
 */
export function refuseWebSocket(server: FastifyInstance): void {
  for (const url of ['/v1/responses', `${FACADE}/responses`]) {
    server.get(url, (request, reply) => {
      if (request.headers.upgrade === undefined) return reply.callNotFound();
      return reply.code(426).send();
    });
  }
}
