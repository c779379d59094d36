/**
 * Hides every foreign wire format: one folder each, and one line each in the list below.
 * Nothing outside this folder knows a vendor by name.
 */
import { anthropic } from './anthropic/index.ts';
import { assemblyai } from './assemblyai/index.ts';
import { azure } from './azure/index.ts';
import { bedrock } from './bedrock/index.ts';
import { bfl } from './bfl/index.ts';
import { elevenlabs } from './elevenlabs/index.ts';
import { fal } from './fal/index.ts';
import { gemini } from './gemini/index.ts';
import { openai } from './openai/index.ts';
import { loadSandbox } from './sandbox.ts';
import type { Vendor } from './vendor.ts';
import { vertex } from './vertex/index.ts';

export type { FormatFrame, FormatRequest, FormatWork } from './format-work.ts';
export { connectTo } from './kit/connect.ts';
export { type Upstream, UpstreamPools } from './kit/http.ts';
export { inMemoryMedia } from './kit/in-memory-media.ts';
export type {
  AudioFile,
  ChatChunk,
  ChatWork,
  Embeddings,
  EmbeddingWork,
  Media,
  NativeAction,
  NativeAnswer,
  NativeFrame,
  NativeRequest,
  NativeWork,
  Output,
  Progress,
  ReadyStream,
  Speech,
  SpeechWork,
  Submitted,
  TaskOrder,
  TaskUsage,
  TaskWork,
  TokenUsage,
  Transcribing,
  Transcript,
  TranscriptionProgress,
  TranscriptionWork,
  Vendor,
  VoicePreview,
} from './vendor.ts';

const sandbox = await loadSandbox();

export const vendors: readonly Vendor[] = [
  sandbox,
  openai,
  anthropic,
  gemini,
  fal,
  elevenlabs,
  assemblyai,
  bfl,
  azure,
  vertex,
  bedrock,
];

export function findVendor(name: string): Vendor | undefined {
  return vendors.find((vendor) => vendor.name === name);
}
