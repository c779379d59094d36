import assert from 'node:assert/strict';
import type { SoundRequest, TranscriptionRequest } from '../../src/requests/index.ts';
import {
  type AudioFile,
  findVendor,
  heldMedia,
  type Media,
  type Upstream,
  UpstreamPools,
} from '../../src/vendors/index.ts';
import { toneAs } from '../support/media-samples.ts';
import { ElevenLabsEmulator, type ElevenLabsOptions } from './elevenlabs.ts';

export const MARKER = 'mk7Q';
export const KEY = 'xi-upstream';
export const VOICE = 'JBFqnCBsd6RMkjVDRZzb';

const vendor = findVendor('elevenlabs');
export const speech = present(vendor?.speech);
export const transcription = present(vendor?.transcription);

function present<Work>(work: Work | undefined): Work {
  assert.ok(work);
  return work;
}

/** A request that asks for nothing but its model. */
export function soundRequest(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return {
    kind: 'audio',
    model: 'public',
    input: undefined,
    prompt: undefined,
    lyrics: undefined,
    voice: undefined,
    referenceId: undefined,
    voiceDescription: undefined,
    language: undefined,
    format: undefined,
    output: 'binary',
    speed: undefined,
    volume: undefined,
    loudness: undefined,
    guidanceScale: undefined,
    promptInfluence: undefined,
    sampleRate: undefined,
    bitrate: undefined,
    durationSeconds: undefined,
    n: 1,
    seed: undefined,
    instrumental: undefined,
    loop: undefined,
    autoGenerateText: undefined,
    referenceAudio: [],
    extra: {},
    ...fields,
  };
}

export function spoken(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return soundRequest({ input: 'Hello there.', voice: VOICE, ...fields });
}

export function transcriptionRequest(fields: Partial<TranscriptionRequest> = {}): TranscriptionRequest {
  return {
    model: 'public',
    language: undefined,
    prompt: undefined,
    temperature: undefined,
    responseFormat: 'json',
    granularities: [],
    extra: {},
    ...fields,
  };
}

export async function clip(seconds = 2): Promise<AudioFile> {
  return { ...heldMedia(await toneAs('flac', { seconds }), 'audio/flac'), extension: 'flac', seconds };
}

export async function withEmulator(
  options: ElevenLabsOptions,
  run: (emulator: ElevenLabsEmulator, upstream: Upstream) => Promise<void>,
): Promise<void> {
  const emulator = new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER, ...options });
  await emulator.start();
  const pools = new UpstreamPools();
  const { signal } = new AbortController();
  const upstream = { address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
  try {
    await run(emulator, { model: 'eleven_flash_v2_5', ...upstream });
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

/** Checked and spoken, all of it. */
export async function said(request: SoundRequest<Media>, upstream: Upstream): Promise<Buffer> {
  speech.check(request, upstream.model);
  const { pieces } = await speech.speak(request, upstream);
  return Buffer.concat(await Array.fromAsync(pieces));
}
