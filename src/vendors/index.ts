/**
 * Hides every foreign wire format: one folder each, and one line each in the list below. Only terms are imported here; the
 * work of a vendor is loaded when a configuration names it.
 * Nothing outside this folder knows a vendor by name.
 */
import { anthropic } from './anthropic/index.ts';
import { ark } from './ark/index.ts';
import { assemblyai } from './assemblyai/index.ts';
import { azure } from './azure/index.ts';
import { bedrock } from './bedrock/index.ts';
import { bfl } from './bfl/index.ts';
import { cartesia } from './cartesia/index.ts';
import { cohere } from './cohere/index.ts';
import { dashscope } from './dashscope/index.ts';
import { deepgram } from './deepgram/index.ts';
import { elevenlabs } from './elevenlabs/index.ts';
import { fal } from './fal/index.ts';
import { fishAudio } from './fish-audio/index.ts';
import { gemini } from './gemini/index.ts';
import { gladia } from './gladia/index.ts';
import { hume } from './hume/index.ts';
import { ideogram } from './ideogram/index.ts';
import { kling } from './kling/index.ts';
import type { ListedVendor } from './listed.ts';
import { luma } from './luma/index.ts';
import { minimax } from './minimax/index.ts';
import { openai } from './openai/index.ts';
import { recraft } from './recraft/index.ts';
import { replicate } from './replicate/index.ts';
import { runway } from './runway/index.ts';
import { sandbox } from './sandbox.ts';
import { stability } from './stability/index.ts';
import { vertex } from './vertex/index.ts';
import { xai } from './xai/index.ts';

export type { FormatFrame, FormatRequest, FormatWork } from './format-work.ts';
export { connectTo } from './kit/connect.ts';
export { type Upstream, UpstreamPools } from './kit/http.ts';
export { inMemoryMedia } from './kit/in-memory-media.ts';
export type { ListedVendor } from './listed.ts';
export { type PriceNames, priceNames } from './price-names.ts';
export type {
  Adopted,
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
  VendorWork,
  VoicePreview,
} from './vendor.ts';
export { loadVendor, Vendors } from './vendors.ts';

export const vendors: readonly ListedVendor[] = [
  sandbox,
  openai,
  anthropic,
  gemini,
  fal,
  elevenlabs,
  assemblyai,
  bfl,
  ark,
  kling,
  runway,
  luma,
  stability,
  ideogram,
  recraft,
  azure,
  vertex,
  bedrock,
  minimax,
  dashscope,
  xai,
  deepgram,
  fishAudio,
  replicate,
  cohere,
  cartesia,
  hume,
  gladia,
];

export function findVendor(name: string): ListedVendor | undefined {
  return vendors.find((vendor) => vendor.name === name);
}
