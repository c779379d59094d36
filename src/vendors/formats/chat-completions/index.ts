/** Text and vectors in the format that most servers speak, each with its dialect, over any wire. */
export { chatOver } from './chat.ts';
export { embeddingOver } from './embedding.ts';
export { faultRules, wire } from './wire.ts';
