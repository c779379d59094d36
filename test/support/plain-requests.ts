import type {
  EmbeddingRequest,
  ImageRequest,
  SoundRequest,
  TranscriptionRequest,
  VideoRequest,
} from '../../src/schemas/index.ts';
import type { Media } from '../../src/vendors/index.ts';

/** Requests as they are when nothing is asked for but what `fields` say. */
export function plainImage(fields: Partial<ImageRequest<Media>> = {}): ImageRequest<Media> {
  return {
    kind: 'image',
    model: 'public',
    prompt: 'A toll gate',
    n: 1,
    size: undefined,
    resolution: undefined,
    aspectRatio: undefined,
    quality: undefined,
    style: undefined,
    negativePrompt: undefined,
    background: undefined,
    outputFormat: undefined,
    responseFormat: undefined,
    seed: undefined,
    watermark: undefined,
    referenceImages: [],
    mask: undefined,
    extra: {},
    ...fields,
  };
}

export function plainVideo(fields: Partial<VideoRequest<Media>> = {}): VideoRequest<Media> {
  return {
    kind: 'video',
    model: 'public',
    prompt: undefined,
    seconds: undefined,
    resolution: undefined,
    size: undefined,
    aspectRatio: undefined,
    fps: undefined,
    seed: undefined,
    negativePrompt: undefined,
    cameraFixed: undefined,
    watermark: undefined,
    generateAudio: undefined,
    inputReference: undefined,
    referenceImages: [],
    firstFrame: undefined,
    lastFrame: undefined,
    referenceVideos: [],
    referenceAudios: [],
    sourceVideo: undefined,
    extra: {},
    ...fields,
  };
}

export function plainSound(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
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

export function plainTranscription(fields: Partial<TranscriptionRequest> = {}): TranscriptionRequest {
  return {
    model: 'public',
    task: 'transcribe',
    language: undefined,
    prompt: undefined,
    temperature: undefined,
    responseFormat: 'json',
    granularities: [],
    extra: {},
    ...fields,
  };
}

export function plainEmbedding(fields: Partial<EmbeddingRequest> = {}): EmbeddingRequest {
  return {
    model: 'public',
    input: { kind: 'texts', texts: ['Hi'] },
    encoding: 'float',
    dimensions: undefined,
    user: undefined,
    extra: {},
    ...fields,
  };
}
