import type { MediaRequest } from './media-requests.ts';

type Kind = MediaRequest<unknown>['kind'];

/** A field of a request that takes pictures or clips. */
interface SlotField {
  /** What callers call it. */
  readonly field: string;
  /** What the configuration calls it, where a model says which it accepts. */
  readonly name: string;
  /** What must be in it. */
  readonly kind: Kind;
}

/** Stands for media at compile time: a field that holds one and has no row in the table below is an error. */
interface Marker {
  readonly marker: unique symbol;
}
type MarkedRequest<Of extends Kind> = Extract<MediaRequest<Marker>, { readonly kind: Of }>;
type SlotKey<Of extends Kind> = {
  [Key in keyof MarkedRequest<Of>]-?: Extract<MarkedRequest<Of>[Key], Marker | readonly Marker[]> extends never
    ? never
    : Key;
}[keyof MarkedRequest<Of>];

/** In the order in which they are refused. */
const SLOTS: { readonly [Of in Kind]: Readonly<Record<SlotKey<Of>, SlotField>> } = {
  image: {
    referenceImages: { field: 'reference_images', name: 'reference_images', kind: 'image' },
    mask: { field: 'mask', name: 'mask', kind: 'image' },
  },
  video: {
    inputReference: { field: 'input_reference', name: 'input_reference', kind: 'image' },
    referenceImages: { field: 'reference_image_urls', name: 'reference_images', kind: 'image' },
    firstFrame: { field: 'first_frame', name: 'first_frame', kind: 'image' },
    lastFrame: { field: 'last_frame', name: 'last_frame', kind: 'image' },
    referenceVideos: { field: 'reference_videos', name: 'reference_videos', kind: 'video' },
    referenceAudios: { field: 'reference_audios', name: 'reference_audios', kind: 'audio' },
    sourceVideo: { field: 'ref_video_url', name: 'ref_video', kind: 'video' },
  },
  audio: {
    referenceAudio: { field: 'reference_audio', name: 'voice_sample', kind: 'audio' },
  },
};

/** One picture or clip of a request, and where it stands. */
interface MediaSlot<Media> extends SlotField {
  readonly media: Media;
  /** The field, and the place in it if it is a list. */
  readonly path: string;
}

/** Every picture and clip of a request. */
export function list<Media>(request: MediaRequest<Media>): MediaSlot<Media>[] {
  return slotFields(request).flatMap(([, slot, value]) =>
    isList(value)
      ? value.map((media, place) => ({ ...slot, media, path: `${slot.field}[${place}]` }))
      : value === undefined
        ? []
        : [{ ...slot, media: value, path: slot.field }],
  );
}

/** Every picture and clip of a request put through `change`; the rest of it as it is. */
export function map<From, To>(request: MediaRequest<From>, change: (media: From) => To): MediaRequest<To> {
  const changed = slotFields(request).map(([key, , value]) => [
    key,
    isList(value) ? value.map(change) : value && change(value),
  ]);
  return { ...request, ...Object.fromEntries(changed) };
}

/** What callers call a member of a request that holds media; undefined for every other member. */
export function fieldOf(kind: Kind, key: string): string | undefined {
  const fields: Readonly<Record<string, SlotField>> = SLOTS[kind];
  return Object.hasOwn(fields, key) ? fields[key]?.field : undefined;
}

type SlotValue<Media> = readonly Media[] | Media | undefined;

function slotFields<Media>(request: MediaRequest<Media>): [string, SlotField, SlotValue<Media>][] {
  const values = request as unknown as Readonly<Record<string, SlotValue<Media>>>;
  return Object.entries<SlotField>(SLOTS[request.kind]).map(([key, slot]) => [key, slot, values[key]]);
}

function isList<Media>(value: SlotValue<Media>): value is readonly Media[] {
  return Array.isArray(value);
}
