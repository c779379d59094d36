import { z } from 'zod';
import { IMAGES_PER_REQUEST_MAX, REFERENCES_MAX } from '../limits.ts';
import type { Maker } from './maker.ts';
import { REFERENCE, urlOf } from './references.ts';

/** The most pictures of one call: each may stand in the answer. */
const PICTURES_MAX = Math.min(4, IMAGES_PER_REQUEST_MAX);

const shape = {
  prompt: z.string().min(1).describe('What the picture shows.'),
  model: z.string().optional().describe('An id of list_models; by default the first that can do it.'),
  size: z.string().optional().describe('Such as 1024x1024. Not together with aspect_ratio.'),
  aspect_ratio: z.string().optional().describe('Such as 16:9.'),
  n: z.int().min(1).max(PICTURES_MAX).optional().describe('How many pictures; each is paid.'),
  seed: z.int().optional().describe('The same seed and prompt give similar pictures, where the model has seeds.'),
  format: z.enum(['png', 'jpeg', 'webp']).optional(),
};

type Fields = z.output<z.ZodObject<typeof shape>>;

function fieldsOf({ prompt, size, aspect_ratio, n, seed, format }: Fields): Record<string, unknown> {
  return { prompt, size, aspect_ratio, n, seed, output_format: format };
}

const newPicture = z.object(shape);

export const generateImage: Maker<typeof newPicture, 'images'> = {
  name: 'generate_image',
  title: 'Make a picture',
  description: 'Makes pictures from a prompt. Costs credits.',
  input: newPicture,
  endpoint: 'images',
  scope: 'user:inference:image',
  body: async (_deps, _call, args) => fieldsOf(args),
};

const edit = z.object({
  ...shape,
  images: z.array(z.string().min(1).describe(REFERENCE)).min(1).max(REFERENCES_MAX).describe('What is to be changed.'),
  mask: z.string().min(1).optional().describe(`Where the first picture may change. ${REFERENCE}`),
});

export const editImage: Maker<typeof edit, 'image_edits'> = {
  name: 'edit_image',
  title: 'Change a picture',
  description: 'Changes pictures, or makes one from several. Costs credits.',
  input: edit,
  endpoint: 'image_edits',
  scope: 'user:inference:image',
  body: async (deps, call, args) => ({
    ...fieldsOf(args),
    image: await Promise.all(args.images.map((reference) => urlOf(deps, call, reference))),
    mask: args.mask === undefined ? undefined : await urlOf(deps, call, args.mask),
  }),
};
