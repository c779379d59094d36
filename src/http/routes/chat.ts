import { z } from 'zod';
import { chatFormat } from '../../formats/index.ts';
import { CHAT_BODY_BYTES_MAX } from '../../limits.ts';
import { chatSchema, toChatRequest } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { answerChat } from './answer-chat.ts';
import { CALL_CODES } from './call.ts';
import { PromptFiles } from './prompt-files.ts';

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
      example: { model: 'sandbox/chat', messages: [{ role: 'user', content: 'What is 12 * 7?' }] },
      body: { kind: 'json', schema: chatSchema, bytesMax: CHAT_BODY_BYTES_MAX },
      answers: { 200: completionSchema },
      otherMedia: ['text/event-stream'],
      codes: [...CALL_CODES, 'missing_model', 'missing_messages', 'invalid_n', 'file_not_found', 'file_too_large'],
    },
    async ({ body, exact, ...call }) => {
      const chat = await new PromptFiles(deps, call.caller).inChat(toChatRequest(body, exact()));
      const format = chatFormat(chat, deps.clock.now());
      return answerChat(deps, call, chat, format, { end: 'data: [DONE]\n\n' });
    },
  );
}
