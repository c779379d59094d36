import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { publicUrl } from '../kit/inline-media.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { refuse } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import type { VideoFamily } from './video-models.ts';

type Request = VideoRequest<Media>;

/** The words, then frames or what to go by, each in its own role. Throws ApiError for what the model cannot take. */
export function contentOf(request: Request, family: VideoFamily): WireMedia[] {
  const { prompt } = request;
  const frames = framesOf(request, family);
  const references = referencesOf(request, family);
  if (frames.length > 0 && references.length > 0) throw unsupported('first_frame', { notWith: 'reference_image_urls' });
  const words = prompt === undefined ? [] : [{ type: 'text', text: prompt }];
  return [...words, ...frames, ...references];
}

function framesOf({ firstFrame, lastFrame }: Request, { frames }: VideoFamily): WireMedia[] {
  refuse('first_frame', firstFrame !== undefined && frames < 1, 'none');
  refuse('last_frame', lastFrame !== undefined && frames < 2, 'none');
  if (lastFrame !== undefined && firstFrame === undefined) throw unsupported('first_frame', { atLeast: 1 });
  return [...pictures('first_frame', firstFrame), ...pictures('last_frame', lastFrame)];
}

function referencesOf(request: Request, { references }: VideoFamily): WireMedia[] {
  const { images = 0, videos = 0, audios = 0 } = references ?? {};
  const { inputReference, referenceImages, referenceVideos, referenceAudios } = request;
  refuse('input_reference', inputReference !== undefined && images === 0, 'none');
  const all = inputReference === undefined ? referenceImages : [inputReference, ...referenceImages];
  refuseMore('reference_image_urls', all, images);
  refuseMore('reference_videos', referenceVideos, videos);
  refuseMore('reference_audios', referenceAudios, audios);
  return [
    ...pictures('reference_image', ...all),
    ...referenceVideos.map((clip) => {
      const video_url = { url: publicUrl(clip, 'reference_videos') };
      return { type: 'video_url', video_url, role: 'reference_video' };
    }),
    ...referenceAudios.map((sound) => {
      const audio_url = { url: publicUrl(sound, 'reference_audios') };
      return { type: 'audio_url', audio_url, role: 'reference_audio' };
    }),
  ];
}

function pictures(role: string, ...media: readonly (Media | undefined)[]): WireMedia[] {
  return media.flatMap((url) => (url === undefined ? [] : [{ type: 'image_url', image_url: { url }, role }]));
}

function refuseMore(field: string, media: readonly Media[], most: number): void {
  refuse(field, media.length > most, most === 0 ? 'none' : { atMost: most });
}
