/**
 * Sound to text, as a record that outlives its request: admission, the work behind it, taking up what a
 * dead process left, and results that expire. Hides how state and money change together, and that nothing is submitted
 * twice.
 */
export { type StartDeps, startTranscription } from './create.ts';
export { CLIP_RULES } from './input.ts';
export { expireTranscripts, getTranscription, listTranscriptions } from './read.ts';
export type { ListedTranscription, SavedResult, TranscriptionRecord } from './record.ts';
export { type Started, Transcriptions } from './transcriptions.ts';
