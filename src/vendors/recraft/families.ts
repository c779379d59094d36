import { firstMatch } from '../kit/mapping.ts';

/** Models that take the same. */
export interface Family {
  /** By shape. */
  readonly sizes: Readonly<Record<string, string>>;
  /** The tier of `resolution` that its square has, and how long the side of that is. */
  readonly tier: string;
  readonly side: number;
  readonly promptMax: number;
  /** Whether it has the vendor's styles, and a negative prompt. */
  readonly isStyled: boolean;
  readonly edits: 'none' | 'whole' | 'with a mask';
}

const SIZES_3 = {
  '1:1': '1024x1024',
  '2:1': '2048x1024',
  '1:2': '1024x2048',
  '3:2': '1536x1024',
  '2:3': '1024x1536',
  '4:3': '1365x1024',
  '3:4': '1024x1365',
  '5:4': '1280x1024',
  '4:5': '1024x1280',
  '10:6': '1707x1024',
  '6:10': '1024x1707',
  '14:10': '1434x1024',
  '10:14': '1024x1434',
  '16:9': '1820x1024',
  '9:16': '1024x1820',
};
const SIZES_4 = {
  '1:1': '1024x1024',
  '2:1': '1536x768',
  '1:2': '768x1536',
  '3:2': '1280x832',
  '2:3': '832x1280',
  '4:3': '1216x896',
  '3:4': '896x1216',
  '5:4': '1152x896',
  '4:5': '896x1152',
  '6:10': '832x1344',
  '14:10': '1280x896',
  '10:14': '896x1280',
  '16:9': '1344x768',
  '9:16': '768x1344',
};
/** Twice as long on each side. */
const SIZES_PRO = Object.fromEntries(
  Object.entries(SIZES_4).map(([shape, size]) => {
    const sides = size.split('x').map((side) => 2 * Number(side));
    return [shape, sides.join('x')];
  }),
);

const THIRD: Family = {
  sizes: SIZES_3,
  tier: '1k',
  side: 1024,
  promptMax: 1000,
  isStyled: true,
  edits: 'with a mask',
};
const FOURTH: Family = { ...THIRD, sizes: SIZES_4, promptMax: 10_000, isStyled: false, edits: 'whole' };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/^recraftv2/, { ...THIRD, edits: 'none' }],
  [/^recraftv3/, THIRD],
  [/_pro(_|$)/, { ...FOURTH, sizes: SIZES_PRO, tier: '2k', side: 2048 }],
];

/** A name that is not known is taken for one of the newest. */
export function familyOf(model: string): Family {
  return firstMatch(FAMILIES, model) ?? FOURTH;
}

/** These draw in SVG, which no caller can be given. */
export function drawsVectors(model: string): boolean {
  return /_vector$/.test(model);
}

/** These go by a style of the operator's own account, which has no public field. */
export function needsStyle(model: string): boolean {
  return /_styles(_|$)/.test(model);
}
