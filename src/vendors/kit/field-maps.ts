import type { SoundRequest, VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import { as, type FieldMap, oneOfNumbers, type WireFields } from './mapping.ts';
import { kilobits } from './sound.ts';

type Sound = SoundRequest<Media>;
type Video = VideoRequest<Media>;

/** A voice by its name or by its id, which are one field. */
export function voiced(name: string): FieldMap<Sound> {
  return {
    voice: as(name),
    referenceId: (id, field, { voice }) => {
      if (voice !== undefined && voice !== id) throw unsupported(field, { notWith: 'voice' });
      return { [name]: id };
    },
  };
}

export function sampleRates(...hertz: readonly number[]): FieldMap<Sound> {
  return { sampleRate: oneOfNumbers('sample_rate', hertz) };
}

/** In bits a second, as the vendor has them. */
export function bitrates(...bits: readonly number[]): FieldMap<Sound> {
  return { bitrate: (bitrate, field) => oneOfNumbers('bitrate', bits)(kilobits(bitrate) * 1000, field) };
}

/** A text without a prompt is the prompt. */
export function described(name: string, take: (text: string, field: string) => WireFields = as(name)): FieldMap<Sound> {
  return {
    prompt: take,
    input: (text, field, { prompt }) => {
      if (prompt !== undefined) throw unsupported(field, { notWith: 'prompt' });
      return take(text, field);
    },
  };
}

/** The picture to go by is one of the reference pictures, and the first. */
export function pictures(name: string, most = Number.POSITIVE_INFINITY): FieldMap<Video> {
  const take = (_value: unknown, field: string, { inputReference, referenceImages }: Video): WireFields => {
    const all = inputReference === undefined ? referenceImages : [inputReference, ...referenceImages];
    if (all.length > most) throw unsupported(field, { atMost: most });
    return { [name]: all };
  };
  return { inputReference: take, referenceImages: take };
}

/** Frames and pictures to go by, for models that make no clip of both. Throws ApiError. */
export function framesOrPictures(
  { firstFrame, lastFrame, inputReference, referenceImages }: Video,
  picturesMax: number,
): { readonly frames: readonly Media[]; readonly pictures: readonly Media[] } {
  const frames = [firstFrame, lastFrame].flatMap((frame) => frame ?? []);
  const pictures = [...(inputReference === undefined ? [] : [inputReference]), ...referenceImages];
  if (lastFrame !== undefined && firstFrame === undefined) throw unsupported('first_frame', { atLeast: 1 });
  if (pictures.length > picturesMax) throw unsupported('reference_image_urls', { atMost: picturesMax });
  if (frames.length > 0 && pictures.length > 0) throw unsupported('first_frame', { notWith: 'reference_image_urls' });
  return { frames, pictures };
}
