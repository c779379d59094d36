/** The messages format of its author over any wire, for a cloud that serves it under its own addresses and credentials. */
export { countTokens, type Message, NO_TOKENS, parseMessage, toCompletion, toUsage } from './answer.ts';
export { chatOver, UNSTREAMED_TOKENS_MAX } from './chat.ts';
export { toConversation } from './messages.ts';
export { type AnswerDelta, frameOf, toChunks } from './stream.ts';
export { faultRules, wire } from './wire.ts';
