import { firstMatch, type WireFields } from '../kit/mapping.ts';
import { byFrame, inPixels, inWords, type ShapeRule } from './shapes.ts';

/** What a clip is made from: words, its first and last frame, or another clip. */
export type Mode = 'text' | 'frames' | 'source';

/** Models that take the same. */
export interface VideoFamily {
  /** How size and shape are told; a mode that is absent is not offered. */
  readonly modes: Readonly<Partial<Record<Mode, ShapeRule>>>;
  /** In seconds. Absent: as long as the clip that is changed. */
  readonly lengths?: {
    readonly usual: number;
    readonly only?: readonly number[];
    readonly from?: number;
    readonly to?: number;
    /** A clip that is changed keeps its own. */
    readonly isOfSource?: boolean;
  };
  readonly flags?: readonly ('seed' | 'negative' | 'audio' | 'sound')[];
  readonly always?: WireFields;
  /** Sent where no unmodelled key says otherwise. */
  readonly defaults?: WireFields;
  readonly hasLastFrame?: boolean;
  readonly sourceField?: 'promptVideo' | 'videoUri';
  /** Goes with a clip that is to be changed, which the model would otherwise only go by. */
  readonly change?: WireFields;
  /** How many it goes by. */
  readonly references?: Readonly<Partial<Record<Mode, ReferenceCounts>>>;
  readonly promptMax?: number;
  /** Modes that need no prompt; all others do. */
  readonly promptless?: readonly Mode[];
}

interface ReferenceCounts {
  readonly images?: number;
  readonly videos?: number;
  readonly audios?: number;
}

const WIDE_OR_TALL = ['1280:720', '720:1280'];
const GEN4_FRAMES = inPixels({ '720p': [...WIDE_OR_TALL, '1104:832', '960:960', '832:1104', '1584:672'] });
const GEN4: VideoFamily = {
  modes: { text: inPixels({ '720p': WIDE_OR_TALL }), frames: GEN4_FRAMES },
  lengths: { usual: 5, from: 2, to: 10 },
  flags: ['seed'],
  promptMax: 1000,
};

/** They make sound, for more money, unless told not to. Where it was not asked for, it is not in the price. */
const SILENT: WireFields = { audio: false };

const VEO_SIZES = inPixels({ '720p': WIDE_OR_TALL, '1080p': ['1920:1080', '1080:1920'] });
const VEO: VideoFamily = {
  modes: { text: VEO_SIZES, frames: VEO_SIZES },
  lengths: { usual: 8, only: [4, 6, 8] },
  flags: ['seed', 'negative', 'audio'],
  always: SILENT,
  hasLastFrame: true,
  promptMax: 1000,
  promptless: ['frames'],
};

const SEEDANCE_720P = ['1280:720', '1470:630', '1112:834', '960:960', '834:1112', '720:1280'];
const SEEDANCE_480P = ['864:496', '992:432', '752:560', '640:640', '560:752', '496:864'];
const SEEDANCE_1080P = ['1920:1080', '2206:946', '1664:1248', '1440:1440', '1248:1664', '1080:1920'];
const SEEDANCE_4K = ['3840:2160', '3840:1646', '3840:2880', '3840:3840', '2880:3840', '2160:3840'];

/** Beside frames there are no pictures or clips to go by, only sounds. */
function referencesBeside(images: number): NonNullable<VideoFamily['references']> {
  const all = { images, videos: 3, audios: 3 };
  return { text: all, source: all, frames: { audios: 3 } };
}

function seedance(tiers: Parameters<typeof inPixels>[0], images: number, seconds: number): VideoFamily {
  const sizes = inPixels(tiers);
  return {
    modes: { text: sizes, frames: sizes, source: sizes },
    lengths: { usual: 5, from: 4, to: seconds },
    flags: ['seed', 'audio'],
    always: SILENT,
    hasLastFrame: true,
    references: referencesBeside(images),
    promptMax: 3500,
    promptless: ['frames', 'source'],
  };
}

const SEEDANCE_2_5 = seedance(
  {
    '720p': SEEDANCE_720P,
    '480p': ['854:480', '992:432', '752:560', '640:640', '560:752', '480:854'],
    '1080p': SEEDANCE_1080P,
  },
  30,
  30,
);

const OMNI: VideoFamily = {
  modes: {
    text: inPixels({ '720p': WIDE_OR_TALL }),
    frames: inPixels({ '720p': WIDE_OR_TALL }),
    source: byFrame([]),
  },
  lengths: { usual: 5, from: 3, to: 10, isOfSource: true },
  flags: ['sound'],
  sourceField: 'videoUri',
  references: { source: { images: 3 } },
  promptless: ['frames'],
};
const OMNI_1_1_SIZES = inPixels({
  '720p': WIDE_OR_TALL,
  '360p': ['640:360', '360:640'],
  '1080p': ['1920:1080', '1080:1920'],
  '4k': ['3840:2160', '2160:3840'],
});

const HAILUO_RATIOS = ['16:9', '21:9', '4:3', '1:1', '3:4', '9:16'];
const HAILUO_TIERS = ['768p', '2k'];
/** As the picture or clip that it begins from, unless a shape is asked for; words alone have none. */
const HAILUO_ADAPTIVE = inWords(['adaptive', ...HAILUO_RATIOS], HAILUO_TIERS);
const WAN_SIZES = inPixels({
  '720p': ['1280:720', '1104:832', '960:960', '832:1104', '720:1280'],
  '480p': ['832:480', '720:544', '624:624', '544:720', '480:832'],
  '1080p': ['1920:1080', '1648:1248', '1440:1440', '1248:1648', '1080:1920'],
});

/** The first that fits the name counts. Lengths that the vendor's types do not bound are those of the model's maker. */
const FAMILIES: readonly (readonly [RegExp, VideoFamily])[] = [
  [/^gen4_turbo/, { ...GEN4, modes: { frames: GEN4_FRAMES }, promptless: ['frames'] }],
  [/^veo/, VEO],
  [
    /^seedance2_5/,
    {
      ...SEEDANCE_2_5,
      modes: { ...SEEDANCE_2_5.modes, source: byFrame([]) },
      lengths: { usual: 5, from: 4, to: 30, isOfSource: true },
      change: { mode: 'edit', duration: 'auto' },
      promptMax: 15_000,
      promptless: ['frames'],
    },
  ],
  [/^seedance2_(fast|mini)/, seedance({ '720p': SEEDANCE_720P, '480p': SEEDANCE_480P }, 9, 15)],
  [
    /^seedance/,
    seedance({ '720p': SEEDANCE_720P, '480p': SEEDANCE_480P, '1080p': SEEDANCE_1080P, '4k': SEEDANCE_4K }, 9, 15),
  ],
  [
    /^gemini_omni_flash_1\.1/,
    {
      ...OMNI,
      modes: { ...OMNI.modes, text: OMNI_1_1_SIZES, frames: OMNI_1_1_SIZES },
      change: { mode: 'edit' },
      hasLastFrame: true,
      references: { text: { images: 3 }, source: { images: 3 } },
      promptless: [],
    },
  ],
  [/^gemini_omni/, OMNI],
  [
    /^hailuo/,
    {
      modes: { text: inWords(HAILUO_RATIOS, HAILUO_TIERS), frames: HAILUO_ADAPTIVE, source: HAILUO_ADAPTIVE },
      lengths: { usual: 6, from: 1, to: 15 },
      hasLastFrame: true,
      references: referencesBeside(9),
    },
  ],
  [
    /^wan3/,
    {
      modes: { text: WAN_SIZES, frames: byFrame(['720p', '480p', '1080p'], 'ratio') },
      lengths: { usual: 5, from: 2, to: 15 },
      flags: ['audio'],
      always: SILENT,
      hasLastFrame: true,
      references: referencesBeside(10),
    },
  ],
  [
    /^h3_max/,
    {
      modes: { text: byFrame(['768p', '480p']), frames: byFrame(['768p', '480p']) },
      lengths: { usual: 5, from: 1, to: 15 },
      flags: ['seed'],
      // Its own default rewrites the prompt before it draws.
      defaults: { promptExpansionMode: 'disabled' },
      hasLastFrame: true,
    },
  ],
  [/^aleph/, { modes: { source: byFrame([]) }, flags: ['seed'], sourceField: 'videoUri', promptless: ['source'] }],
];

/** A model that is not known takes what the vendor's own latest takes. */
export function familyOf(model: string): VideoFamily {
  return firstMatch(FAMILIES, model) ?? GEN4;
}
