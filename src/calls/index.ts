/**
 * Work that is answered while the caller waits: chat in its formats, the native format, embeddings, speech, estimates. Each call:
 * find candidates, hold credits, ask until one works, take what it cost. Hides metering, and that a failed call costs nothing.
 */
export { completeChat, startChat } from './chat.ts';
export { callsOf, comparePrices, type EstimatedPrice, type PriceComparison } from './compare-prices.ts';
export { countPrompt } from './count.ts';
export type { CallContext, CallDeps } from './deps.ts';
export { embed, type MadeEmbeddings } from './embeddings.ts';
export { estimateCall, estimateChat } from './estimate.ts';
export { callNative, startNative } from './native.ts';
export { forgetResponseItems, ResponseItems } from './response-items.ts';
export { prepareResponse, type ResponseDeps } from './responses.ts';
export { type MadeClip, type SpeechClips, type SpeechStream, speak } from './speech.ts';
export type { Content } from './speech-content.ts';
export type { VoicePreviews } from './speech-design.ts';
export type { Sound } from './speech-sound.ts';
