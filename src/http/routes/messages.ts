import { z } from 'zod';
import { countPrompt } from '../../calls/index.ts';
import {
  countSchema,
  MESSAGES_PING,
  messagesError,
  messagesFormat,
  messagesSchema,
  toChatFromMessages,
} from '../../formats/index.ts';
import { CHAT_BODY_BYTES_MAX } from '../../limits.ts';
import type { ErrorShape } from '../contract/contract.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { answerChat } from './answer-chat.ts';
import { CALL_CODES, callContext } from './call.ts';

const count = z.int().min(0);

const messageSchema = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullable(),
    usage: z.looseObject({
      input_tokens: count,
      cache_creation_input_tokens: count.nullable(),
      cache_read_input_tokens: count.nullable(),
      output_tokens: count,
      credits: z.number().describe('What the call cost.'),
    }),
  })
  .meta({ id: 'Message' });

const ERRORS: ErrorShape = {
  schema: z
    .strictObject({
      type: z.literal('error'),
      error: z.strictObject({
        type: z.string(),
        message: z.string(),
        code: z.string(),
        param: z.string().nullable(),
      }),
      request_id: z.string(),
    })
    .meta({ id: 'MessagesError' }),
  idHeader: 'request-id',
  bodyOf: messagesError,
};

const FIELD_CODES = ['missing_model', 'missing_messages'] as const;

export function messagesRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/messages',
      summary: 'Chat in the Messages format, whole or streamed',
      access: 'caller',
      scope: 'user:inference:chat',
      logged: 'chat',
      example: { model: 'sandbox/chat', max_tokens: 100, messages: [{ role: 'user', content: 'What is 12 * 7?' }] },
      body: { kind: 'json', schema: messagesSchema, bytesMax: CHAT_BODY_BYTES_MAX, keepsBytes: true },
      answers: { 200: messageSchema },
      otherMedia: ['text/event-stream'],
      errors: ERRORS,
      codes: [...CALL_CODES, ...FIELD_CODES],
    },
    ({ body, exact, bytes, caller, request, reply }) => {
      const translated = toChatFromMessages(body, exact());
      const { chat } = translated;
      const format = messagesFormat(translated, { exact: exact(), bytes, headers: request.headers }, request.id);
      return answerChat(deps, { caller, request, reply }, chat, format, { keepAlive: MESSAGES_PING });
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      summary: 'How many tokens a prompt in the Messages format has; free, and in a rate bucket of its own',
      access: 'caller',
      scope: 'user:inference:chat',
      bucket: 'count',
      example: { model: 'sandbox/chat', messages: [{ role: 'user', content: 'What is 12 * 7?' }] },
      body: { kind: 'json', schema: countSchema, bytesMax: CHAT_BODY_BYTES_MAX, keepsBytes: true },
      answers: { 200: z.strictObject({ input_tokens: count }).meta({ id: 'MessagesCount' }) },
      errors: ERRORS,
      codes: [...CALL_CODES, ...FIELD_CODES],
    },
    async ({ body, exact, bytes, caller, request, reply }) => {
      const translated = toChatFromMessages(body, exact());
      const format = messagesFormat(translated, { exact: exact(), bytes, headers: request.headers }, request.id);
      const { signal } = callContext(request, reply);
      return { input_tokens: await countPrompt(deps, caller, translated.chat, format, signal) };
    },
  );
}
