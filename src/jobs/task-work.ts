import { readerOf, type StoredMedia } from '../objects/index.ts';
import { type MediaRequest, slots } from '../schemas/index.ts';
import type { Media, TaskWork, Vendor } from '../vendors/index.ts';
import type { JobDeps } from './deps.ts';
import type { JobKind } from './job.ts';

/** The vendor's work for a kind of job; undefined where it has none. */
export function taskWorkOf(vendor: Vendor, kind: JobKind): TaskWork<MediaRequest<Media>> | undefined {
  // A request of a kind only ever meets the work of that kind.
  return { image: vendor.image, video: vendor.video, audio: vendor.music }[kind];
}

/** The request as a vendor is given it: media are read from the store when they are wanted. */
export function forVendor(deps: JobDeps, request: MediaRequest<StoredMedia>): MediaRequest<Media> {
  return slots.map(request, (stored) => readerOf(deps.objects, stored));
}
