import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import type { Job, LinkedAsset } from '../../jobs/index.ts';
import type { ImageRequest } from '../../schemas/index.ts';

/** Pictures in the shape of the facade. Those in base64 are written piece by piece around their bytes. */

const count = z.int();

const usageSchema = z.strictObject({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: z.strictObject({ text_tokens: count, image_tokens: count }),
  credits: z.number().describe('What the pictures cost. Tokens are not counted.'),
});

const detailsShape = {
  size: z.string().optional(),
  quality: z.string().optional(),
  background: z.string().optional(),
  output_format: z.string().optional(),
  usage: usageSchema,
  job_id: z.string().describe('The job that made them, at `/v1/jobs`.'),
};

export const picturesSchema = z
  .strictObject({
    created: z.int(),
    data: z.array(z.strictObject({ b64_json: z.string().optional(), url: z.string().optional() })),
    ...detailsShape,
  })
  .meta({ id: 'Pictures' });

type Details = z.infer<z.ZodObject<typeof detailsShape>>;

/** Pictures that were made, and how they were asked for. */
export interface MadePictures {
  readonly job: Job;
  readonly assets: readonly LinkedAsset[];
  readonly asked: Pick<ImageRequest<unknown>, 'quality' | 'background'>;
}

/** With a link for each picture in the place of its bytes. */
export function linkedPicturesView(made: MadePictures): z.infer<typeof picturesSchema> {
  return { created: createdOf(made), data: made.assets.map(({ url }) => ({ url })), ...detailsOf(made) };
}

/** The document in pieces. `base64` gives what stands for the bytes of one; the first is read before anything is written. */
export async function* pictureDocument(
  made: MadePictures,
  base64: (asset: LinkedAsset) => Promise<AsyncIterable<string>>,
): AsyncIterable<string> {
  for (const [place, asset] of made.assets.entries()) {
    const pieces = await base64(asset);
    yield `${place === 0 ? `{"created":${createdOf(made)},"data":[` : ','}{"b64_json":"`;
    yield* pieces;
    yield '"}';
  }
  yield `],${JSON.stringify(detailsOf(made)).slice(1)}`;
}

/** One event for each picture, as a stream in pieces. */
export async function* pictureEvents(
  type: 'image_generation' | 'image_edit',
  made: MadePictures,
  base64: (asset: LinkedAsset) => Promise<AsyncIterable<string>>,
): AsyncIterable<string> {
  const name = `${type}.completed`;
  for (const asset of made.assets) {
    const pieces = await base64(asset);
    yield `event: ${name}\ndata: {"type":"${name}","b64_json":"`;
    yield* pieces;
    const details = { created_at: createdOf(made), ...detailsOf({ ...made, assets: [asset] }) };
    yield `",${JSON.stringify(details).slice(1)}\n\n`;
  }
}

function createdOf({ job }: MadePictures): number {
  return unixSeconds(job.finishedAt ?? job.createdAt);
}

function detailsOf({ job, assets: [first], asked }: MadePictures): Details {
  const { width, height, mimeType } = first ?? {};
  return {
    ...(width !== undefined && height !== undefined && { size: `${width}x${height}` }),
    ...(asked.quality !== undefined && { quality: asked.quality }),
    ...(asked.background !== undefined && { background: asked.background }),
    ...(mimeType !== undefined && { output_format: mimeType.replace(/^image\//, '') }),
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      input_tokens_details: { text_tokens: 0, image_tokens: 0 },
      credits: creditsToNumber(job.charged ?? 0n),
    },
    job_id: job.id,
  };
}
