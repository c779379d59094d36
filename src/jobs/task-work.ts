import type { MediaKind } from '../media/index.ts';
import { readerOf, type StoredMedia } from '../objects/index.ts';
import type { MediaRequest } from '../schemas/index.ts';
import type { Media, TaskWork, Vendor } from '../vendors/index.ts';
import type { JobDeps } from './deps.ts';
import type { JobKind } from './job.ts';

/** The vendor's work for a kind of job; undefined where it has none. */
export function taskWorkOf(vendor: Vendor, kind: JobKind): TaskWork<MediaRequest<Media>> | undefined {
  // A request of a kind only ever meets the work of that kind.
  return { image: vendor.image, video: vendor.video, audio: vendor.music }[kind];
}

/** Every picture and clip of a request put through `change`; the rest of it as it is. */
export function withMedia<From, To>(request: MediaRequest<From>, change: (media: From) => To): MediaRequest<To> {
  const one = (media: From | undefined) => (media === undefined ? undefined : change(media));
  switch (request.kind) {
    case 'image':
      return { ...request, referenceImages: request.referenceImages.map(change), mask: one(request.mask) };
    case 'video':
      return {
        ...request,
        inputReference: one(request.inputReference),
        referenceImages: request.referenceImages.map(change),
        firstFrame: one(request.firstFrame),
        lastFrame: one(request.lastFrame),
        referenceVideos: request.referenceVideos.map(change),
        referenceAudios: request.referenceAudios.map(change),
        sourceVideo: one(request.sourceVideo),
      };
    case 'audio':
      return { ...request, referenceAudio: request.referenceAudio.map(change) };
  }
}

export interface NamedMedia<Some> {
  readonly media: Some;
  /** What it must be. */
  readonly kind: MediaKind;
  /** The field that names it, and its place in that. */
  readonly field: string;
}

/** Every picture and clip of a request. */
export function mediaOf<Some>(request: MediaRequest<Some>): readonly NamedMedia<Some>[] {
  switch (request.kind) {
    case 'image':
      return [...listed('reference_images', 'image', request.referenceImages), ...only('mask', 'image', request.mask)];
    case 'video':
      return [
        ...only('input_reference', 'image', request.inputReference),
        ...listed('reference_image_urls', 'image', request.referenceImages),
        ...only('first_frame', 'image', request.firstFrame),
        ...only('last_frame', 'image', request.lastFrame),
        ...listed('reference_videos', 'video', request.referenceVideos),
        ...listed('reference_audios', 'audio', request.referenceAudios),
        ...only('ref_video_url', 'video', request.sourceVideo),
      ];
    case 'audio':
      return listed('reference_audio', 'audio', request.referenceAudio);
  }
}

function only<Some>(field: string, kind: MediaKind, media: Some | undefined): NamedMedia<Some>[] {
  return media === undefined ? [] : [{ media, kind, field }];
}

function listed<Some>(field: string, kind: MediaKind, media: readonly Some[]): NamedMedia<Some>[] {
  return media.map((each, place) => ({ media: each, kind, field: `${field}[${place}]` }));
}

/** The request as a vendor is given it: media are read from the store when they are wanted. */
export function forVendor(deps: JobDeps, request: MediaRequest<StoredMedia>): MediaRequest<Media> {
  return withMedia(request, (stored) => readerOf(deps.objects, stored));
}
