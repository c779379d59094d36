/**
 * The author's format over any wire: what a cloud that serves it under its own addresses and credentials is built from.
 * Clouds name deployments as they like, so whose model it is may have to be told.
 */
export { chatOver } from './chat.ts';
export { embeddingOver } from './embedding.ts';
export { imageOver } from './image.ts';
export { speechOver } from './speech.ts';
export { transcriptionFamily, transcriptionOver } from './transcription.ts';
export { faultRules } from './wire.ts';
