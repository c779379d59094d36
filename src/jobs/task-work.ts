import { readerOf, type StoredMedia } from '../intake/index.ts';
import type { MediaKind } from '../media/index.ts';
import type { MediaRequest } from '../requests/index.ts';
import type { Media, TaskWork, Vendor } from '../vendors/index.ts';
import type { JobKind } from './job.ts';
import type { JobParts } from './parts.ts';

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

/** Every picture and clip of a request, and what it must be. */
export function mediaOf<Some>(request: MediaRequest<Some>): { readonly media: Some; readonly kind: MediaKind }[] {
  const found: { media: Some; kind: MediaKind }[] = [];
  const kinds = new Map<Some, MediaKind>();
  if (request.kind === 'video') {
    for (const media of request.referenceAudios) kinds.set(media, 'audio');
    for (const media of request.referenceVideos) kinds.set(media, 'video');
    if (request.sourceVideo !== undefined) kinds.set(request.sourceVideo, 'video');
  }
  withMedia(request, (media) => {
    found.push({ media, kind: kinds.get(media) ?? (request.kind === 'audio' ? 'audio' : 'image') });
  });
  return found;
}

/** The request as a vendor is given it: media are read from the store when they are wanted. */
export function forVendor(parts: JobParts, request: MediaRequest<StoredMedia>): MediaRequest<Media> {
  return withMedia(request, (stored) => readerOf(parts.objects, stored));
}
