import { UpstreamError } from '../../errors.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported, unsupportedWork } from '../../unsupported.ts';
import { withTypes } from '../kit/forms.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, objectsAt, stringAt } from '../kit/json.ts';
import {
  as,
  autoOnly,
  between,
  type FieldMap,
  implied,
  mapFields,
  oneOf,
  shapeAmong,
  single,
  textWithin,
  wordFor,
} from '../kit/mapping.ts';
import { exactSize, sidesIn } from '../kit/pixel-size.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { Call } from '../kit/wire.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { drawsVectors, type Family, familyOf, needsStyle } from './families.ts';
import { wire } from './wire.ts';

type Request = ImageRequest<Media>;

const COUNT_MAX = 6;
const SEED_MAX = 2 ** 32 - 1;
/** The vendor has others, which are drawn in SVG and cost twice as much. */
const STYLES = ['realistic_image', 'digital_illustration', 'logo_raster'];
/** What public fields decide. */
const RESERVED = ['image', 'image_url', 'mask_url', 'style_reference_urls', 'image_format', 'random_seed'];
/** How far an edit may go from its picture; the vendor takes none without. */
const STRENGTH = 0.5;

/** Pictures made while the vendor keeps the line open. There is no task, and so nothing to ask after or to find again. */
export const image: TaskWork<Request> = {
  check(request, model) {
    if (drawsVectors(model)) throw unsupportedWork('make PNG, JPEG or WebP pictures');
    refuseKeys(request.extra, RESERVED);
    refuse('style_id', needsStyle(model) && request.extra.style_id === undefined, { atLeast: 1 });
    toCall(request, 1, model);
  },

  perCall: ({ n }) => Math.min(n, COUNT_MAX),

  async submit(request, { count }, upstream) {
    const answer = await wire.json(upstream, toCall(request, count, upstream.model));
    const urls = objectsAt(answer, 'data').map((entry) => stringAt(entry, 'url') ?? '');
    // Fewer than were ordered may come, of which only those are paid.
    const outputs = urls.filter((url) => url !== '').map((url) => ({ url }));
    if (outputs.length === 0) throw new UpstreamError('garbled', 'an answer without pictures');
    return { state: 'succeeded', outputs, usage: { credits: amountAt(answer, 'credits') } };
  },
};

/** Throws ApiError for what the model cannot take. */
function toCall(request: Request, n: number, model: string): Call {
  const { extra, mask, referenceImages } = request;
  const hasPicture = referenceImages.length > 0;
  const family = familyOf(model);
  const fields = mapFields(request, { takes: takesOf(family, hasPicture) }, IMAGE_NAMES);
  refuse('reference_images', mask !== undefined && !hasPicture, { atLeast: 1 });
  const strength = hasPicture && mask === undefined ? { strength: STRENGTH } : {};
  // Links are kept for a day, so that a process that begins anew can still fetch them.
  const input = { image_format: 'png', ...strength, ...withTypes(extra), ...fields, model, n, response_format: 'url' };
  return { path: `/images/${nameOf(hasPicture, mask)}`, body: jsonWithMedia(input) };
}

function nameOf(hasPicture: boolean, mask: Media | undefined): string {
  if (!hasPicture) return 'generations';
  return mask === undefined ? 'imageToImage' : 'inpaint';
}

function takesOf(family: Family, hasPicture: boolean): FieldMap<Request> {
  const { promptMax, isStyled, edits } = family;
  return {
    prompt: textWithin('prompt', 1, promptMax),
    // An edit is as large as its picture.
    ...(hasPicture ? { size: autoOnly, aspectRatio: shapeAmong('size', []) } : sized(family)),
    quality: autoOnly,
    background: implied('auto', 'opaque'),
    outputFormat: oneOf('image_format', ['png', 'webp']),
    seed: between('random_seed', 0, SEED_MAX),
    ...(isStyled ? { style: oneOf('style', STYLES), negativePrompt: as('negative_prompt') } : {}),
    ...(edits === 'none' ? {} : { referenceImages: single('image_url') }),
    ...(edits === 'with a mask' ? { mask: as('mask_url') } : {}),
  };
}

function sized({ sizes, tier, side }: Family): FieldMap<Request> {
  // A tier has its price, so that some shapes are too large for it.
  const within = Object.fromEntries(Object.entries(sizes).filter(([, size]) => pixelsOf(size) <= side * side));
  return {
    size: exactSize(oneOf('size', Object.values(sizes))),
    resolution: (asked, field) => {
      if (asked.toLowerCase() !== tier) throw unsupported(field, { oneOf: [tier] });
      return { size: `${side}x${side}` };
    },
    aspectRatio: (ratio, field, { size, resolution }) => {
      if (size !== undefined && size !== 'auto') throw unsupported(field, { notWith: 'size' });
      if (ratio === 'auto' || ratio === 'adaptive') return {};
      return wordFor('size', resolution === undefined ? sizes : within)(ratio, field);
    },
  };
}

function pixelsOf(size: string): number {
  const [width, height] = sidesIn(size);
  return width * height;
}
