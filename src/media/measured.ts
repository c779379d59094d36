import { IMAGE_PIXELS_MAX, IMAGE_SIDE_PIXELS_MAX, MEDIA_SECONDS_MAX } from '../limits.ts';
import { Unreadable } from './readable.ts';

export interface Measured {
  /** In pixels as shown: of a clip that is stored lying, after it is turned. */
  readonly width?: number;
  readonly height?: number;
  /** Of video and audio, always; never 0, since what holds no sample is empty, and at most MEDIA_SECONDS_MAX. */
  readonly seconds?: number;
  readonly hasAudio?: boolean;
  readonly hasVideo?: boolean;
}

/** What a header announces, before anybody makes room for it. */
export function imageOf(width: number, height: number): Measured {
  if (width === 0 || height === 0) throw new Unreadable('the image has no size');
  const isLarge = Math.max(width, height) > IMAGE_SIDE_PIXELS_MAX || width * height > IMAGE_PIXELS_MAX;
  if (isLarge) throw new Unreadable(`the image announces ${width} by ${height} pixels`);
  return { width, height };
}

export function soundOf(seconds: number): Measured {
  return { seconds: checkedSeconds(seconds), hasAudio: true, hasVideo: false };
}

/** To the microsecond, which is less than a sample: what remains of the sums behind it would only look exact. */
export function checkedSeconds(seconds: number): number {
  const rounded = Math.round(seconds * 1e6) / 1e6;
  if (!(rounded > 0)) throw new Unreadable('it holds no media');
  if (rounded > MEDIA_SECONDS_MAX) throw new Unreadable('it is longer than a day');
  return rounded;
}
