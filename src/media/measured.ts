import {
  IMAGE_PIXELS_MAX,
  IMAGE_SIDE_PIXELS_MAX,
  MEDIA_BYTES_PER_SECOND_MIN,
  MEDIA_FILLED_SECONDS_MAX,
  MEDIA_FILLED_SHARE_MAX,
  MEDIA_SECONDS_MAX,
  SAMPLE_RATE_MAX,
  SAMPLE_RATE_MIN,
} from '../limits.ts';
import { Implausible, Unreadable } from './buffered-reader.ts';

export interface Measured {
  /** In pixels as shown: of a clip that is stored lying, after it is turned. */
  readonly width?: number;
  readonly height?: number;
  /** Of video and audio, always; never 0, since what holds no sample is empty, and at most MEDIA_SECONDS_MAX. */
  readonly seconds?: number;
  readonly hasAudio?: boolean;
  readonly hasVideo?: boolean;
  /** There is sound in it of a coding whose packets are not counted: its length is what the file says. */
  readonly isStated?: true;
}

/** What a header announces, judged before memory is allocated for it. */
export function imageOf(width: number, height: number): Measured {
  if (width === 0 || height === 0) throw new Unreadable('the image has no size');
  const isLarge = Math.max(width, height) > IMAGE_SIDE_PIXELS_MAX || width * height > IMAGE_PIXELS_MAX;
  if (isLarge) throw new Unreadable(`the image announces ${width} by ${height} pixels`);
  return { width, height };
}

/** By what the file says of its length, and by what was counted of its sound. */
export function soundOf(stated: number, counted = 0): Measured {
  return { seconds: checkedSeconds(playedSeconds(stated, counted)), hasAudio: true, hasVideo: false };
}

/**
 * The length that is charged for. Honest files hold a little more than is heard, since encoders fill frames before and
 * behind the sound; where more than that is there, a decoder plays it, whatever the clocks of the file say.
 */
export function playedSeconds(stated: number, counted: number): number {
  const more = counted - Math.max(0, stated);
  const filledMax = stated < 1 ? MEDIA_FILLED_SECONDS_MAX / 2 : MEDIA_FILLED_SECONDS_MAX;
  return more > filledMax && more > stated * MEDIA_FILLED_SHARE_MAX ? counted : stated;
}

/** Throws Implausible for a length that its bytes cannot hold. */
export function checkPlausible(measured: Measured, bytes: number, mimeType: string): Measured {
  const perSecondMin = MEDIA_BYTES_PER_SECOND_MIN[mimeType] ?? MEDIA_BYTES_PER_SECOND_MIN.other ?? 0;
  const { seconds = 0 } = measured;
  if (bytes < seconds * perSecondMin) throw new Implausible(`${bytes} bytes cannot play for ${seconds} seconds`);
  return measured;
}

/** Samples per second, of one channel. Nothing that is heard has fewer or more. */
export function checkedRate(rate: number): number {
  if (rate === 0) throw new Unreadable('it states no sample rate');
  if (rate < SAMPLE_RATE_MIN || rate > SAMPLE_RATE_MAX)
    throw new Implausible(`sound cannot play ${rate} samples a second`);
  return rate;
}

/** To the microsecond, which is less than a sample: what remains of the sums behind it would only look exact. */
export function checkedSeconds(seconds: number): number {
  const rounded = Math.round(seconds * 1e6) / 1e6;
  if (!(rounded > 0)) throw new Unreadable('it holds no media');
  if (rounded > MEDIA_SECONDS_MAX) throw new Unreadable('it is longer than a day');
  return rounded;
}
