/**
 * Work that is answered while the caller waits: chat and the native format. Each call is one story: find candidates,
 * hold credits, ask until one works, take what it cost. Hides metering, and that a failed call costs nothing.
 */
export { completeChat, startChat } from './chat.ts';
export { callNative, startNative } from './native.ts';
export type { CallParts } from './parts.ts';
