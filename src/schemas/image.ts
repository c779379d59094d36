import { z } from 'zod';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { IMAGES_PER_REQUEST_MAX, REFERENCES_MAX } from '../limits.ts';
import { optional } from '../parse.ts';
import { countField, flagField, modelField, oneOf, ratioField, sizeField, textField, wholeField } from './fields.ts';
import type { ImageRequest, MediaSource } from './media-requests.ts';
import { passthrough, unmodelled } from './passthrough.ts';
import { IMAGE_SLOT, listField, MASK_SLOT, pictureIn, picturesOf, referenceField } from './references.ts';

const references = listField(referenceField('invalid_input_reference'), 'invalid_input_reference');

const metadataFields = z.object({ resolution: textField.describe('The same as `resolution`.') });

// What is not named here is not looked at: it is taken from the exact body, and bounded there.
export const imageSchema = z.object({
  model: modelField,
  prompt: z.string({ error: 'missing_prompt' }).min(1, { error: 'missing_prompt' }),
  n: countField(IMAGES_PER_REQUEST_MAX),
  size: sizeField,
  resolution: textField,
  aspect_ratio: ratioField,
  quality: textField,
  style: textField,
  negative_prompt: textField,
  background: textField,
  output_format: optional(z.enum(['png', 'jpeg', 'webp'], { error: 'invalid_output_format' })),
  response_format: optional(z.enum(['url', 'b64_json'], { error: 'invalid_response_format' })),
  seed: wholeField,
  watermark: flagField,
  reference_images: references,
  images: references.describe('The same as `reference_images`.'),
  mask: optional(referenceField('invalid_mask')),
  metadata: optional(metadataFields),
});
type ParsedBody = z.output<typeof imageSchema> & Partial<Pick<z.output<typeof imageEditSchema>, 'image'>>;

const pictures = z.union([references, referenceField('invalid_input_reference').transform((only) => [only])], {
  error: 'invalid_input_reference',
});

/** An edit in JSON takes its pictures also under the name that they have in a form. */
const imageEditSchema = imageSchema.extend({
  image: optional(pictures).describe('One picture or several: the same as `reference_images`.'),
});

/** The body of each of the two calls that make pictures. */
export const imageSchemas = { images: imageSchema, image_edits: imageEditSchema } as const;

/** `exact` is the same body with every number as it was written. Throws `missing_image` for an edit of nothing. */
export function toImageRequest(
  parsed: ParsedBody,
  exact: JsonObject,
  endpoint: 'images' | 'image_edits',
): ImageRequest<MediaSource> {
  const request = imageRequest(parsed, exact, { images: [], mask: undefined });
  if (endpoint === 'image_edits') requireImage(request);
  return request;
}

export function requireImage({ referenceImages }: ImageRequest<unknown>): void {
  if (referenceImages.length === 0) throw new ApiError('missing_image', { param: 'image' });
}

export interface ImageFiles {
  readonly images: readonly MediaSource[];
  readonly mask: MediaSource | undefined;
}

/** Files that came with the body stand before the pictures that it names. */
export function imageRequest(parsed: ParsedBody, exact: JsonObject, files: ImageFiles): ImageRequest<MediaSource> {
  const resolution = oneOf({ resolution: parsed.resolution, 'metadata.resolution': parsed.metadata?.resolution });
  const named = oneOf({ reference_images: parsed.reference_images, images: parsed.images, image: parsed.image }) ?? [];
  if (files.images.length + named.length > REFERENCES_MAX) {
    const message = `At most ${REFERENCES_MAX} images can be given.`;
    throw new ApiError('invalid_parameter', { message, param: 'reference_images' });
  }
  if (parsed.mask !== undefined && files.mask !== undefined) throw new ApiError('invalid_mask', { param: 'mask' });
  return {
    kind: 'image',
    model: parsed.model,
    prompt: parsed.prompt,
    n: parsed.n ?? 1,
    size: parsed.size,
    resolution,
    aspectRatio: parsed.aspect_ratio,
    quality: parsed.quality,
    style: parsed.style,
    negativePrompt: parsed.negative_prompt,
    background: parsed.background,
    outputFormat: parsed.output_format,
    responseFormat: parsed.response_format,
    seed: parsed.seed,
    watermark: parsed.watermark,
    referenceImages: [...files.images, ...picturesOf('reference_images', named, IMAGE_SLOT)],
    mask: pictureIn('mask', parsed.mask, MASK_SLOT) ?? files.mask,
    extra: passthrough({ ...unmodelled(exact, shapeOf(parsed)), ...restOf(exact.metadata) }),
  };
}

/** `image` is a field of edits alone: elsewhere it goes on like any other key. */
function shapeOf(parsed: ParsedBody): object {
  return Object.hasOwn(parsed, 'image') ? imageEditSchema.shape : imageSchema.shape;
}

/** Of `metadata` one key is known; the others go on. The schema has seen to it that it is an object. */
function restOf(metadata: JsonObject[string] | undefined): JsonObject {
  const rest = unmodelled((metadata ?? {}) as JsonObject, metadataFields.shape);
  return Object.keys(rest).length === 0 ? {} : { metadata: rest };
}
