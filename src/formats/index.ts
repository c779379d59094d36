/**
 * Wire formats of text generation that ride on chat, one folder each: pure translation of requests into the common chat
 * shape and of answers out of it, whole and streamed, and what is left to do where an upstream speaks the format itself.
 */
export { chatFormat } from './chat/index.ts';
export type { ChatFormat, CountedTokens, FrameWriter, PassThrough, Settled } from './format.ts';
export { hasCacheMark } from './messages/cache-marks.ts';
export { messagesError } from './messages/errors.ts';
export { PING as MESSAGES_PING } from './messages/events.ts';
export { messagesFormat } from './messages/index.ts';
export { toChat as toChatFromMessages } from './messages/request.ts';
export { countSchema, messagesSchema } from './messages/schema.ts';
export {
  type ReasoningSeal,
  type ResponsesRequest,
  referencedIds,
  responsesCall,
  responsesSchema,
  toResponsesRequest,
  withItems,
} from './responses/index.ts';
