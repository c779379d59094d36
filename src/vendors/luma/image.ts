import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { as, autoOnly, type FieldMap, mapFields, oneOf } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { addressOf, generationWork, RATIOS } from './generations.ts';

type Request = ImageRequest<Media>;

const REFERENCES_MAX = 4;
const FORMATS: Readonly<Record<string, string>> = { jpeg: 'jpg', png: 'png' };

const TAKES: FieldMap<Request> = {
  prompt: as('prompt'),
  size: autoOnly,
  aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspect_ratio', RATIOS)(ratio, field)),
  outputFormat: (format, field) => {
    const name = FORMATS[format];
    if (name === undefined) throw unsupported(field, { oneOf: Object.keys(FORMATS) });
    return { format: name };
  },
  referenceImages: (pictures, field) => {
    if (pictures.length > REFERENCES_MAX) throw unsupported(field, { atMost: REFERENCES_MAX });
    return { image_ref: pictures.map((picture) => addressOf(picture, field)) };
  },
};

export const image = generationWork<Request>({
  asset: 'image',
  reserved: ['image_ref', 'format'],
  creationOf: (request) => ({
    path: '/generations/image',
    fields: mapFields(request, { takes: TAKES }, IMAGE_NAMES),
  }),
});
