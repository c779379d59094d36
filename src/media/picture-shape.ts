/** The two sides of `WxH` in pixels; undefined for a word such as `auto`. */
function sidesOf(size: string): readonly [width: number, height: number] | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  return width === undefined || height === undefined ? undefined : [Number(width), Number(height)];
}

/**
 * Whether `WxH` can be a picture of the shape `W:H`: one side is what the other gives, exactly or rounded to a whole
 * pixel either way, so 1024x576 and 854x480 are both 16:9. A word such as `auto` agrees with everything.
 */
export function isSameShape(size: string, aspectRatio: string): boolean {
  const sides = sidesOf(size);
  const [, across, down] = /^([\d.]+):([\d.]+)$/.exec(aspectRatio) ?? [];
  if (sides === undefined || across === undefined || down === undefined) return true;
  const [width, height] = sides;
  const ratio = Number(across) / Number(down);
  return Math.abs(width - height * ratio) < 1 || Math.abs(height - width / ratio) < 1;
}

// 2k means 1080 lines to some and 1440 to others, so it is no measure.
const LINES_OF_TIER = new Map([
  ['4k', 2160],
  ['8k', 4320],
]);

/** How many pixels the shorter side of a clip of this tier has, where the tier's name says it: 720 for `720p`. */
function linesOf(resolution: string): number | undefined {
  const [, lines] = /^(\d+)p$/.exec(resolution) ?? [];
  return lines === undefined ? LINES_OF_TIER.get(resolution) : Number(lines);
}

/** Whether a clip of this size is of this tier; undefined where the two cannot be compared. */
export function isOfTier(size: string, resolution: string): boolean | undefined {
  const sides = sidesOf(size);
  const lines = linesOf(resolution);
  return sides === undefined || lines === undefined ? undefined : Math.min(...sides) === lines;
}
