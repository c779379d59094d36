import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { publicUrl } from '../kit/inline-media.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { refuse } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import type { Slot, VideoFamily } from './video-models.ts';

type Request = VideoRequest<Media>;
type Item = readonly [name: string, media: WireMedia];

const REFERENCES_MAX = 5;
/** The one field that is a list. */
const LIST = 'reference_urls';

/** Frames, media to go by, sound and a clip to change, each in its own slot. Throws ApiError for what the family cannot take. */
export function mediaOf(
  request: Request,
  { slots, needs, hasMediaList, isEitherOr }: VideoFamily,
): Record<string, WireMedia> {
  const given = slotsOf(request);
  checkCounts(given, needs);
  const reference = REFERENCES.find((slot) => given[slot].length > 0);
  if (isEitherOr === true && given.firstFrame.length > 0 && reference !== undefined) {
    throw unsupported(NAMES.firstFrame, { notWith: NAMES[reference] });
  }
  const items: Item[] = SLOTS.flatMap((slot) => {
    const name = slots[slot];
    return name === undefined ? [] : given[slot].map((media): Item => [name, placed(media, slot, name)]);
  });
  if (hasMediaList === true) {
    return items.length === 0 ? {} : { media: items.map(([type, url]) => ({ type, url })) };
  }
  const listed = items.filter(([name]) => name === LIST).map(([, media]) => media);
  const single = Object.fromEntries(items.filter(([name]) => name !== LIST));
  return listed.length === 0 ? single : { ...single, [LIST]: listed };
}

const SLOTS: readonly Slot[] = ['source', 'firstFrame', 'lastFrame', 'pictures', 'clips', 'sound'];
const REFERENCES: readonly Slot[] = ['pictures', 'clips', 'sound'];
const NAMES: Readonly<Record<Slot, string>> = {
  source: 'ref_video_url',
  firstFrame: 'first_frame',
  lastFrame: 'last_frame',
  pictures: 'reference_image_urls',
  clips: 'reference_videos',
  sound: 'reference_audios',
};

function slotsOf(request: Request): Readonly<Record<Slot, readonly Media[]>> {
  const { sourceVideo, firstFrame, lastFrame, inputReference, referenceImages } = request;
  return {
    source: present(sourceVideo),
    firstFrame: present(firstFrame),
    lastFrame: present(lastFrame),
    pictures: [...present(inputReference), ...referenceImages],
    clips: request.referenceVideos,
    sound: request.referenceAudios,
  };
}

function present(media: Media | undefined): readonly Media[] {
  return media === undefined ? [] : [media];
}

function checkCounts(given: Readonly<Record<Slot, readonly Media[]>>, needs: Slot | undefined): void {
  const references = given.pictures.length + given.clips.length;
  // A picture to go by is as good as a clip.
  const count = needs === 'clips' ? references : needs === undefined ? 1 : given[needs].length;
  if (needs !== undefined && count === 0) throw unsupported(NAMES[needs], { atLeast: 1 });
  if (given.lastFrame.length > given.firstFrame.length) throw unsupported(NAMES.firstFrame, { atLeast: 1 });
  refuse(NAMES[given.clips.length > 0 ? 'clips' : 'pictures'], references > REFERENCES_MAX, { atMost: REFERENCES_MAX });
  refuse(NAMES.sound, given.sound.length > 1, { atMost: 1 });
}

/** Clips and sounds are taken by their address only, and so is what stands in the list. */
function placed(media: Media, slot: Slot, name: string): WireMedia {
  const isPicture = slot === 'firstFrame' || slot === 'lastFrame' || slot === 'pictures';
  return isPicture && name !== LIST ? media : publicUrl(media, NAMES[slot]);
}
