export const MODALITIES = ['image', 'video', 'chat', 'audio'] as const;
export type Modality = (typeof MODALITIES)[number];

/** Specification, "Model card": the fixed vocabulary of routes; `embeddings` stands beside it. */
export const ENDPOINTS = [
  'images',
  'image_edits',
  'videos',
  'chat',
  'native',
  'audio_speech',
  'transcriptions',
  'audio_music',
  'embeddings',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** How a model chooses among upstreams of equal priority: at random by weight, by cost, or by speed. */
export const ROUTINGS = ['weighted', 'cheapest', 'fastest'] as const;

/** The request fields that hand over media, or ask for some beside the main output. */
export const SLOTS = [
  'reference_images',
  'mask',
  'first_frame',
  'last_frame',
  'input_reference',
  'reference_videos',
  'reference_audios',
  'ref_video',
  'generate_audio',
] as const;
export type Slot = (typeof SLOTS)[number];

export const FORMATS = ['png', 'jpeg', 'webp', 'mp3', 'wav', 'pcm', 'opus', 'flac', 'aac', 'ogg'] as const;
export type Format = (typeof FORMATS)[number];
