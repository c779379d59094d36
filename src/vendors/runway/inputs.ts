import { unsupported } from '../../unsupported.ts';
import { refuseOutside } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';

/** A data URI has at most 5 MB, of which its base64 takes a third; unverified that the limit is of the text. */
const INLINE_BYTES_MAX = 3_300_000;

/** A medium in a body: within it, or by its address where it is too large. Throws ApiError where that is none. */
export function uriOf(media: Media, field: string): Media | string {
  if (media.bytes <= INLINE_BYTES_MAX) return media;
  if (media.url?.startsWith('https://') !== true) throw unsupported(field, { atMost: INLINE_BYTES_MAX, unit: 'bytes' });
  return media.url;
}

/** Throws ApiError for more than the model takes. */
export function urisOf(media: readonly Media[], field: string, most: number): { readonly uri: Media | string }[] {
  if (media.length > most) throw unsupported(field, { atMost: most });
  return media.map((each) => ({ uri: uriOf(each, field) }));
}

const SEED_MAX = 4_294_967_295;

export function seedOf(seed: number, field: string): { readonly seed: number } {
  refuseOutside(field, seed, 0, SEED_MAX);
  return { seed };
}

/** The vendor counts UTF-16 units, and takes no empty prompt. Throws ApiError for a longer one. */
export function promptOf(
  { prompt }: { readonly prompt: string | undefined },
  max = Number.POSITIVE_INFINITY,
): { readonly promptText?: string } {
  if (prompt === undefined) return {};
  if (prompt.length > max) throw unsupported('prompt', { atMost: max, unit: 'characters' });
  return { promptText: prompt };
}
