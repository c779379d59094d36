import type { JsonObject } from '../json.ts';

/**
 * The media requests, checked. `Media` is what stands for each picture or clip in them: where it comes from right after
 * parsing, where it is kept in a stored job, and its bytes when a vendor is asked.
 */
export interface ImageRequest<Media> {
  readonly kind: 'image';
  /** The public name that the caller asked for. */
  readonly model: string;
  readonly prompt: string;
  /** How many pictures. */
  readonly n: number;
  /** `WxH` or `auto`. */
  readonly size: string | undefined;
  /** A tier such as `2k`. */
  readonly resolution: string | undefined;
  /** `W:H`. */
  readonly aspectRatio: string | undefined;
  readonly quality: string | undefined;
  readonly style: string | undefined;
  readonly negativePrompt: string | undefined;
  readonly background: string | undefined;
  readonly outputFormat: 'png' | 'jpeg' | 'webp' | undefined;
  readonly responseFormat: 'url' | 'b64_json' | undefined;
  readonly seed: number | undefined;
  readonly watermark: boolean | undefined;
  /** In sent order. An edit has at least one. */
  readonly referenceImages: readonly Media[];
  readonly mask: Media | undefined;
  /** Keys that are not modelled, for the upstream, numbers as they were written. */
  readonly extra: JsonObject;
}

export interface VideoRequest<Media> {
  readonly kind: 'video';
  readonly model: string;
  readonly prompt: string | undefined;
  /** Undefined is the model's own length. */
  readonly seconds: number | undefined;
  readonly resolution: string | undefined;
  readonly size: string | undefined;
  readonly aspectRatio: string | undefined;
  readonly fps: number | undefined;
  readonly seed: number | undefined;
  readonly negativePrompt: string | undefined;
  readonly cameraFixed: boolean | undefined;
  readonly watermark: boolean | undefined;
  readonly generateAudio: boolean | undefined;
  /** A picture to go by; it is never a frame. */
  readonly inputReference: Media | undefined;
  readonly referenceImages: readonly Media[];
  readonly firstFrame: Media | undefined;
  readonly lastFrame: Media | undefined;
  readonly referenceVideos: readonly Media[];
  readonly referenceAudios: readonly Media[];
  /** The clip that is to be changed. */
  readonly sourceVideo: Media | undefined;
  readonly extra: JsonObject;
}

/** Speech and music share one body. */
export interface SoundRequest<Media> {
  readonly kind: 'audio';
  readonly model: string;
  readonly input: string | undefined;
  readonly prompt: string | undefined;
  readonly lyrics: string | undefined;
  readonly voice: string | undefined;
  readonly referenceId: string | undefined;
  readonly voiceDescription: string | undefined;
  readonly language: string | undefined;
  readonly format: 'mp3' | 'wav' | 'pcm' | 'opus' | 'flac' | 'aac' | 'ogg' | undefined;
  readonly output: 'binary' | 'b64_json' | 'url';
  readonly speed: number | undefined;
  readonly volume: number | undefined;
  readonly loudness: number | undefined;
  readonly guidanceScale: number | undefined;
  readonly promptInfluence: number | undefined;
  readonly sampleRate: number | undefined;
  readonly bitrate: number | undefined;
  readonly durationSeconds: number | undefined;
  /** How many clips. */
  readonly n: number;
  readonly seed: number | undefined;
  readonly instrumental: boolean | undefined;
  readonly loop: boolean | undefined;
  readonly autoGenerateText: boolean | undefined;
  readonly referenceAudio: readonly Media[];
  readonly extra: JsonObject;
}

export type MediaRequest<Media> = ImageRequest<Media> | VideoRequest<Media> | SoundRequest<Media>;

/** Where a picture or clip comes from, as the caller said it. Nothing has been fetched or looked at yet. */
export type MediaSource =
  | { readonly from: 'url'; readonly url: string }
  /**
   * Decoded from base64 or a data URL; the declared type is not kept, because it is not trusted. `field` is where it stands,
   * if that is not the list that it belongs to.
   */
  | { readonly from: 'bytes'; readonly bytes: Buffer; readonly field?: 'voice' }
  /** Came with the body and was put into the store while it was read. */
  | { readonly from: 'upload'; readonly key: string; readonly mimeType: string; readonly bytes: number };
