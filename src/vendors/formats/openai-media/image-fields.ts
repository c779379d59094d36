import type { JsonValue } from '../../../json.ts';
import { canonicalQuality } from '../../../quality.ts';
import type { ImageRequest } from '../../../schemas/index.ts';
import { refuse, refuseKeys } from '../../kit/refusals.ts';
import type { Media } from '../../vendor.ts';
import { isSize, isTier, sizeFor, tierOf } from './image-size.ts';

type Fields = Readonly<Record<string, JsonValue | undefined>>;

export interface ImageFamily {
  readonly isAuthors: boolean;
  readonly areSizesFixed: boolean;
}

/**
 * Whose model it is, by its name behind any path. The format's author refuses every field that it does not know, so
 * its models are sent only what they take, and `check` refuses the rest. A server that merely speaks the format has
 * fields of its own, and any model's name: it is sent all that the caller gave, as the caller gave it, and may refuse it.
 */
export function imageFamily(upstreamModel: string): ImageFamily {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1);
  return {
    isAuthors: /^(gpt-image|chatgpt-image|dall-e)/.test(name),
    areSizesFixed: /^(gpt-image-1|chatgpt-image|dall-e)/.test(name),
  };
}

/** What is sent beside the pictures. Undefined fields are left out. */
export function fieldsOf(
  request: ImageRequest<Media>,
  count: number,
  upstreamModel: string,
  family = imageFamily(upstreamModel),
): Fields {
  const { extra, prompt, background, outputFormat: output_format } = request;
  const shared = { ...extra, model: upstreamModel, prompt, n: count };
  if (family.isAuthors) {
    return { ...shared, size: sizeOf(request, family), quality: qualityOf(request), background, output_format };
  }
  return {
    ...shared,
    size: request.size,
    resolution: request.resolution,
    aspect_ratio: request.aspectRatio,
    quality: request.quality,
    style: request.style,
    negative_prompt: request.negativePrompt,
    background,
    output_format,
    response_format: request.responseFormat,
    seed: request.seed,
    watermark: request.watermark,
  };
}

/** The size that is asked for; undefined where it is left to the upstream. */
export function sizeOf(request: ImageRequest<Media>, { areSizesFixed }: ImageFamily): string | undefined {
  const { size, aspectRatio, resolution } = request;
  const isExact = size !== undefined && size !== 'auto';
  if (isExact || (aspectRatio === undefined && resolution === undefined)) return size;
  return sizeFor(aspectRatio, resolution, areSizesFixed);
}

const QUALITIES: ReadonlySet<string> = new Set(['auto', 'low', 'medium', 'high', 'xhigh', 'max']);
const BACKGROUNDS: ReadonlySet<string> = new Set(['auto', 'opaque', 'transparent']);
const MASK_BYTES_MAX = 4 * 1024 * 1024;

function qualityOf({ quality }: ImageRequest<Media>): string | undefined {
  return quality === undefined ? undefined : canonicalQuality(quality);
}

/** Throws ApiError for what the model cannot take, naming the first such field. */
export function checkFields(request: ImageRequest<Media>, family: ImageFamily): void {
  refuseKeys(request.extra, ['stream'], 'another value');
  const { isAuthors, areSizesFixed } = family;
  if (!isAuthors) return;
  const { size, resolution, aspectRatio, background } = request;
  refuse('negative_prompt', request.negativePrompt !== undefined, 'none');
  refuse('seed', request.seed !== undefined, 'none');
  refuse('style', request.style !== undefined, 'none');
  refuse('watermark', request.watermark === true, 'none');
  refuse('quality', !QUALITIES.has(qualityOf(request) ?? 'auto'));
  refuse('background', !BACKGROUNDS.has(background ?? 'auto'));
  refuse('background', background === 'transparent' && request.outputFormat === 'jpeg');
  refuse('size', size !== undefined && !isSize(size, areSizesFixed));
  refuse('resolution', resolution !== undefined && !isTier(resolution, areSizesFixed));
  // Only the size is sent, so it must be of the tier that is paid for.
  refuse('resolution', resolution !== undefined && isOfOtherTier(size, resolution, areSizesFixed));
  const hasCustomFormat = (size === undefined || size === 'auto') && aspectRatio !== undefined;
  refuse('aspect_ratio', hasCustomFormat && sizeOf(request, family) === undefined);
  refuse('mask', request.mask !== undefined && !isMask(request.mask, request.referenceImages.length));
}

function isOfOtherTier(size: string | undefined, resolution: string, areSizesFixed: boolean): boolean {
  return size !== undefined && size !== 'auto' && tierOf(size, areSizesFixed) !== resolution.toLowerCase();
}

function isMask(mask: Media, images: number): boolean {
  return images > 0 && mask.mimeType === 'image/png' && mask.bytes < MASK_BYTES_MAX;
}
