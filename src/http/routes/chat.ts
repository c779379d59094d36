import { z } from 'zod';
import { completeChat, startChat } from '../../calls/index.ts';
import { chatFormat } from '../../formats/index.ts';
import { CHAT_BODY_BYTES_MAX } from '../../limits.ts';
import { chatSchema, toChatRequest } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import { KEEP_ALIVE_COMMENT, sendEvents } from '../edge/events.ts';
import type { Routes } from '../edge/route.ts';
import { CALL_CODES, callContext } from './call.ts';

const completionSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({})),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
      credits: z.number().describe('What the call cost.'),
    }),
  })
  .meta({ id: 'ChatCompletion' });

export function chatRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/chat/completions',
      summary: 'Chat, whole or streamed',
      access: 'caller',
      scope: 'user:inference:chat',
      console: 'run',
      logged: 'chat',
      body: { kind: 'json', schema: chatSchema, bytesMax: CHAT_BODY_BYTES_MAX },
      answers: { 200: completionSchema },
      otherMedia: ['text/event-stream'],
      codes: [...CALL_CODES, 'missing_model', 'missing_messages', 'invalid_n'],
    },
    async ({ body, exact, caller, request, reply }) => {
      const chat = toChatRequest(body, exact());
      const context = callContext(request, reply);
      const format = chatFormat(chat, deps.clock.now());
      if (!chat.stream) return completeChat(deps, caller, chat, format, context);
      const frames = await startChat(deps, caller, chat, format, context);
      await sendEvents(
        reply,
        {
          frames,
          contentType: 'text/event-stream; charset=utf-8',
          end: 'data: [DONE]\n\n',
          error: (envelope) => frames.failure(envelope),
          cutOnError: false,
          keepAlive: KEEP_ALIVE_COMMENT,
        },
        deps.log,
      );
      return reply;
    },
  );
}
