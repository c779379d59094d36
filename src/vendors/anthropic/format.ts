/** The vendor's format over any wire, for a cloud that serves it under its own addresses and credentials. */
export { type Message, toCompletion } from './answer.ts';
export { chatOver } from './chat.ts';
export { toConversation } from './messages.ts';
export { type AnswerDelta, toChunks } from './stream.ts';
export { faultRules } from './wire.ts';
