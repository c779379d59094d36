import type { Caller } from '../accounts/index.ts';
import { messagesSchema, responsesSchema, toChatFromMessages, toResponsesRequest } from '../formats/index.ts';
import type { JsonObject } from '../json.ts';
import { parseWith } from '../parse.ts';
import type { ChatRequest } from '../schemas/index.ts';
import { prepareResponse, type ResponseDeps } from './responses.ts';

/** Formats that ride on chat, by the words with which an estimate names them. */
export const CHAT_FORMATS = ['responses', 'messages'] as const;

/** The chat call that a body of this format becomes: what is held for it is what is held for that. */
export async function chatOfFormat(
  deps: ResponseDeps,
  caller: Caller,
  format: (typeof CHAT_FORMATS)[number],
  body: unknown,
  exact: JsonObject,
): Promise<ChatRequest> {
  if (format === 'messages') return toChatFromMessages(parseWith(messagesSchema, body), exact).chat;
  const { chat } = await prepareResponse(deps, caller, toResponsesRequest(parseWith(responsesSchema, body), exact));
  return chat;
}
