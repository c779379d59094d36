import type { ImageRequest, SoundRequest, VideoRequest } from '../../schemas/index.ts';
import type { PublicNames } from './mapping.ts';

/**
 * What callers call the fields of a sound, in the order in which they are told that one is not taken. `output` and `n` are
 * not here: they change nothing of what is made.
 */
export const SOUND_NAMES: PublicNames<SoundRequest<unknown>> = [
  ['prompt', 'prompt'],
  ['input', 'input'],
  ['lyrics', 'lyrics'],
  ['voice', 'voice'],
  ['referenceId', 'reference_id'],
  ['voiceDescription', 'voice_description'],
  ['language', 'language'],
  ['format', 'response_format'],
  ['sampleRate', 'sample_rate'],
  ['bitrate', 'bitrate'],
  ['speed', 'speed'],
  ['volume', 'volume'],
  ['loudness', 'loudness'],
  ['guidanceScale', 'guidance_scale'],
  ['promptInfluence', 'prompt_influence'],
  ['durationSeconds', 'duration_seconds'],
  ['seed', 'seed'],
  ['instrumental', 'instrumental'],
  ['loop', 'loop'],
  ['autoGenerateText', 'auto_generate_text'],
  ['referenceAudio', 'reference_audio'],
];

const SOUND_FIELDS = new Map(SOUND_NAMES);

export function soundName(key: keyof SoundRequest<unknown>): string {
  return SOUND_FIELDS.get(key) ?? key;
}

/** `response_format` is not here: it changes nothing of what is made. */
export const IMAGE_NAMES: PublicNames<ImageRequest<unknown>> = [
  ['prompt', 'prompt'],
  ['size', 'size'],
  ['resolution', 'resolution'],
  ['aspectRatio', 'aspect_ratio'],
  ['quality', 'quality'],
  ['style', 'style'],
  ['negativePrompt', 'negative_prompt'],
  ['background', 'background'],
  ['outputFormat', 'output_format'],
  ['seed', 'seed'],
  ['watermark', 'watermark'],
  ['referenceImages', 'reference_images'],
  ['mask', 'mask'],
];

export const VIDEO_NAMES: PublicNames<VideoRequest<unknown>> = [
  ['prompt', 'prompt'],
  ['seconds', 'seconds'],
  ['resolution', 'resolution'],
  ['size', 'size'],
  ['aspectRatio', 'aspect_ratio'],
  ['fps', 'fps'],
  ['seed', 'seed'],
  ['negativePrompt', 'negative_prompt'],
  ['cameraFixed', 'camera_fixed'],
  ['watermark', 'watermark'],
  ['generateAudio', 'generate_audio'],
  ['inputReference', 'input_reference'],
  ['referenceImages', 'reference_image_urls'],
  ['firstFrame', 'first_frame'],
  ['lastFrame', 'last_frame'],
  ['referenceVideos', 'reference_videos'],
  ['referenceAudios', 'reference_audios'],
  ['sourceVideo', 'ref_video_url'],
];
