/**
 * Pictures, speech and transcripts of the author's format, over any wire. Clouds name deployments as they like, so whose
 * model it is may have to be told.
 */
export { imageOver } from './image.ts';
export { speechOver } from './speech.ts';
export { transcriptionFamily, transcriptionOver } from './transcription.ts';
