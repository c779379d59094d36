/** Wire JSON to typed requests: pure, checked once, never again. Each field carries its public code as its error. */
export { type ChatRequest, chatSchema, toChatRequest } from './chat.ts';
export { optional } from './fields.ts';
export type { ImageRequest, MediaRequest, MediaSource, SoundRequest, VideoRequest } from './media-requests.ts';
export { parseWith } from './parse.ts';
export { estimatePromptTokens, estimateTokens } from './tokens.ts';
