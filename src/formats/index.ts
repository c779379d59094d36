/**
 * Wire formats of text generation that ride on chat, one folder each: pure translation of requests into the common chat
 * shape and of answers out of it, whole and streamed, and what is left to do where an upstream speaks the format itself.
 */
export { chatFormat } from './chat/index.ts';
export type { ChatFormat, CountedTokens, FrameWriter, PassThrough, Settled } from './format.ts';
export {
  type ResponsesRequest,
  referencedIds,
  responsesCall,
  responsesSchema,
  toResponsesRequest,
  withItems,
} from './responses/index.ts';
