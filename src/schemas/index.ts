/**
 * Wire JSON and forms to typed requests: pure, checked once, never again. Each field carries its public code as its
 * error. Hides synonyms, the ways to name a picture or clip, and what may be passed on unread.
 */
export { type ChatRequest, chatSchema, toChatRequest } from './chat.ts';
export type { EmbeddingInput, EmbeddingRequest } from './embeddings.ts';
export * as embeddings from './embeddings.ts';
export * as fields from './fields.ts';
export { fingerprint, type SentBody } from './fingerprint.ts';
export { type Form, fromForm, transcriptionFromForm } from './form.ts';
export { imageSchemas, toImageRequest } from './image.ts';
export type { ImageRequest, MediaRequest, MediaSource, SoundRequest, VideoRequest } from './media-requests.ts';
export * as slots from './media-slots.ts';
export { type NativeTokens, nativeTokensOf } from './native.ts';
export { urlsIn } from './passthrough.ts';
export { soundSchema, toSoundRequest } from './sound.ts';
export { type TranscriptionRequest, toTranscription, transcriptionSchema } from './transcription.ts';
export { toVideoRequest, videoSchema } from './video.ts';
export * as wireBodies from './wire-body.ts';
