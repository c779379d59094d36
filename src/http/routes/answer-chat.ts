import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/index.ts';
import { completeChat, startChat } from '../../calls/index.ts';
import type { ChatFormat } from '../../formats/index.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import { KEEP_ALIVE_COMMENT, sendEvents } from '../edge/events.ts';
import { callContext } from './call.ts';

interface ChatCall {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface StreamTexts {
  /** After the last frame of a good stream. */
  readonly end?: string;
  /** In silence. */
  readonly keepAlive?: string;
}

/** The answer to a chat call in any format: one object, or the frames of a stream, which closes with the format's own error. */
export async function answerChat<Answer>(
  deps: HttpDeps,
  { caller, request, reply }: ChatCall,
  chat: ChatRequest,
  format: ChatFormat<Answer>,
  { end = '', keepAlive = KEEP_ALIVE_COMMENT }: StreamTexts = {},
): Promise<Answer | FastifyReply> {
  const context = callContext(request, reply);
  if (!chat.stream) return completeChat(deps, caller, chat, format, context);
  const frames = await startChat(deps, caller, chat, format, context);
  await sendEvents(
    reply,
    {
      frames,
      contentType: 'text/event-stream; charset=utf-8',
      end,
      error: (envelope) => frames.failure(envelope),
      cutOnError: false,
      keepAlive,
    },
    deps.log,
  );
  return reply;
}
