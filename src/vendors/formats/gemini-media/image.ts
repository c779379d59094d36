import type { ImageRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import { jsonWithMedia, withoutAddress } from '../../kit/inline-media.ts';
import { type FieldMap, firstMatch, mapFields, oneOf, type WireFields } from '../../kit/mapping.ts';
import { exactSize } from '../../kit/pixel-size.ts';
import { IMAGE_NAMES } from '../../kit/public-names.ts';
import { refuse } from '../../kit/refusals.ts';
import type { CallBody, Wire } from '../../kit/wire.ts';
import type { Media, TaskWork } from '../../vendor.ts';
import { generate, refuseReserved } from './generated.ts';

type Request = ImageRequest<Media>;

/**
 * One picture for each call, made while the line is open. There is no task, and so nothing to ask after. `more` are fields
 * of `imageConfig` that only the servers behind this wire take.
 */
export function imageOver(wire: Wire, more: FieldMap<Request> = {}): TaskWork<Request> {
  return {
    check(request, model) {
      refuseReserved(request.extra);
      imageConfigOf(request, model, more);
    },

    perCall: () => 1,

    async submit(request, _order, upstream) {
      const body = toBody(request, imageConfigOf(request, upstream.model, more));
      const { media, usage } = await generate(wire, upstream, 'image', body);
      return { state: 'succeeded', outputs: media.map(({ data }) => ({ data })), usage };
    },
  };
}

interface ImageFamily {
  readonly ratios: readonly string[];
  /** In lower case; the vendor writes them in upper case. */
  readonly tiers: readonly string[];
}

const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const LONG_RATIOS = [...RATIOS, '1:4', '4:1', '1:8', '8:1'];
const TIERS = ['1k', '2k', '4k'];

/** The first that fits the name counts. Unverified: which of them take the long shapes. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/gemini-3\.1-flash-lite-image/, { ratios: RATIOS, tiers: ['1k'] }],
  [/gemini-3\.1-flash-image/, { ratios: LONG_RATIOS, tiers: ['512', ...TIERS] }],
  [/gemini-nano-banana/, { ratios: LONG_RATIOS, tiers: TIERS }],
];

/** A model that is not known takes what all of them take. */
const USUAL: ImageFamily = { ratios: RATIOS, tiers: TIERS };

/** Shape and size, in the vendor's words. Throws ApiError for what the model cannot take. */
function imageConfigOf(request: Request, model: string, more: FieldMap<Request>): WireFields {
  const { ratios, tiers } = firstMatch(FAMILIES, model) ?? USUAL;
  const takes: FieldMap<Request> = {
    ...more,
    prompt: () => ({}),
    referenceImages: () => ({}),
    size: exactSize((size) => squareOf(size, request, tiers)),
    resolution: (tier, field) => {
      refuse(field, !tiers.includes(tier.toLowerCase()), { oneOf: tiers });
      return { imageSize: tier.toUpperCase() };
    },
    aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspectRatio', ratios)(ratio, field)),
  };
  return mapFields(request, { takes }, IMAGE_NAMES);
}

/** The vendor knows shapes and tiers only; in pixels it is sure to make nothing but squares. */
function squareOf(size: string, { aspectRatio }: Request, tiers: readonly string[]): WireFields {
  if (![undefined, 'auto', '1:1'].includes(aspectRatio)) throw unsupported('aspect_ratio', { notWith: 'size' });
  const tier = tiers.find((each) => size === sizeOf(each));
  if (tier === undefined) throw unsupported('size', { oneOf: ['auto', ...tiers.map(sizeOf)] });
  return { aspectRatio: '1:1', imageSize: tier.toUpperCase() };
}

function sizeOf(tier: string): string {
  const side = tier.endsWith('k') ? Number.parseInt(tier, 10) * 1024 : Number(tier);
  return `${side}x${side}`;
}

/** Pictures come before the words that speak of them, and always as bytes. */
function toBody(request: Request, imageConfig: WireFields): CallBody {
  const pictures = request.referenceImages.map((picture) => ({
    inlineData: { mimeType: picture.mimeType, data: withoutAddress(picture) },
  }));
  const body = {
    ...request.extra,
    contents: [{ role: 'user', parts: [...pictures, { text: request.prompt }] }],
    generationConfig: {
      // Its own default is a picture with words around it.
      responseModalities: ['IMAGE'],
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    },
  };
  return jsonWithMedia(body, 'base64');
}
