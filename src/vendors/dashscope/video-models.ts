import { firstMatch } from '../kit/mapping.ts';

/** The public slots of media, with what the vendor calls each. */
export type Slot = 'firstFrame' | 'lastFrame' | 'pictures' | 'clips' | 'sound' | 'source';

/** Models that are called in the same way and take the same. */
export interface VideoFamily {
  readonly path: string;
  /** Lengths one by one, or any whole number between two. */
  readonly seconds: readonly number[] | { readonly from: number; readonly to: number };
  readonly tiers: readonly string[];
  /** How the shape is told: inside a size, by a ratio, or not at all, since the pictures have it. */
  readonly shape: 'size' | 'ratio' | 'none';
  /** Sound that a caller decides on, that cannot be left out, or that is never made. */
  readonly audio: 'chosen' | 'always' | 'none';
  readonly slots: Readonly<Partial<Record<Slot, string>>>;
  /** What the family cannot do without. */
  readonly needs?: Slot;
  /** Media are one list in which each says what it is; otherwise fields. */
  readonly hasMediaList?: boolean;
  /** Frames, or media to go by, and not both. */
  readonly isEitherOr?: boolean;
}

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';
const FROM_FRAMES = '/api/v1/services/aigc/image2video/video-synthesis';

const ALL_TIERS = ['480p', '720p', '1080p'];
const UPPER_TIERS = ['720p', '1080p'];

const WORDS: VideoFamily = {
  path: SYNTHESIS,
  seconds: [5, 10, 15],
  tiers: UPPER_TIERS,
  shape: 'size',
  audio: 'chosen',
  slots: { sound: 'audio_url' },
};
const FRAME: VideoFamily = {
  ...WORDS,
  shape: 'none',
  slots: { firstFrame: 'img_url', sound: 'audio_url' },
  needs: 'firstFrame',
};
const SILENT = { seconds: [5], tiers: ALL_TIERS, audio: 'none' } as const;

const WAN_2_7: VideoFamily = {
  path: SYNTHESIS,
  seconds: { from: 2, to: 15 },
  tiers: UPPER_TIERS,
  shape: 'ratio',
  audio: 'always',
  hasMediaList: true,
  slots: {},
};
const SHORT = { from: 2, to: 10 };

const FRAMES = { firstFrame: 'first_frame_url', lastFrame: 'last_frame_url' };
const REFERENCE_LIST = { pictures: 'reference_urls', clips: 'reference_urls' };
const FRAME_MEDIA = { firstFrame: 'first_frame', lastFrame: 'last_frame', sound: 'driving_audio' };
const REFERENCE_MEDIA = { pictures: 'reference_image', clips: 'reference_video' };
const FRAME_AND_REFERENCES = { ...REFERENCE_MEDIA, firstFrame: 'first_frame' };
const EDIT_MEDIA = { source: 'video', pictures: 'reference_image' };

/** One model for all of it but edits. */
const WAN_3: VideoFamily = {
  ...WAN_2_7,
  seconds: { from: 2, to: 30 },
  tiers: ALL_TIERS,
  audio: 'chosen',
  slots: { ...FRAME_MEDIA, ...REFERENCE_MEDIA, sound: 'reference_audio' },
  isEitherOr: true,
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, VideoFamily])[] = [
  [/-kf2v/, { ...FRAME, ...SILENT, path: FROM_FRAMES, slots: FRAMES }],
  [/^wanx?2\.[0-4]-t2v/, { ...WORDS, ...SILENT, slots: {} }],
  [/^wanx?2\.[0-4]-i2v/, { ...FRAME, ...SILENT, slots: { firstFrame: 'img_url' } }],
  [/^wan2\.5-t2v/, { ...WORDS, seconds: [5, 10], tiers: ALL_TIERS }],
  [/^wan2\.5-i2v/, { ...FRAME, seconds: [5, 10], tiers: ALL_TIERS }],
  [/^wan2\.6-t2v/, WORDS],
  [/^wan2\.6-i2v/, FRAME],
  [/^wan2\.6-r2v/, { ...WORDS, seconds: [5, 10], slots: REFERENCE_LIST, needs: 'clips' }],
  [/^wan2\.7-t2v/, { ...WAN_2_7, hasMediaList: false, slots: { sound: 'audio_url' } }],
  [/^wan2\.7-i2v/, { ...WAN_2_7, shape: 'none', slots: FRAME_MEDIA, needs: 'firstFrame' }],
  [/^wan2\.7-r2v/, { ...WAN_2_7, seconds: SHORT, slots: FRAME_AND_REFERENCES, needs: 'clips' }],
  [/^wan2\.7-videoedit/, { ...WAN_2_7, seconds: SHORT, shape: 'none', slots: EDIT_MEDIA, needs: 'source' }],
];

/** A model that is not known takes what the latest one takes. */
export function videoFamily(model: string): VideoFamily {
  return firstMatch(FAMILIES, model) ?? WAN_3;
}
