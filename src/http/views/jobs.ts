import { z } from 'zod';
import { ENDPOINT_PATHS } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ENDPOINTS } from '../../configuration/index.ts';
import { creditsToNumber } from '../../credits.ts';
import { JOB_FAULTS, type Job, type JobRequest, type LinkedAsset } from '../../jobs/index.ts';

/** Jobs and their assets in wire shape. */

const seconds = z.int().describe('Unix seconds.');

export const jobSchema = z
  .strictObject({
    id: z.string().regex(/^job_/),
    object: z.literal('job'),
    status: z.enum(['queued', 'running', 'succeeded', 'failed', 'queue_expired', 'canceled']),
    kind: z.enum(['image', 'video', 'audio']),
    model: z.string(),
    progress: z.int().min(0).max(100),
    created_at: seconds,
    updated_at: seconds.optional(),
    finished_at: seconds.optional(),
    dispatch_deadline_at: seconds,
    error_code: z.string().optional(),
    error: z.string().optional(),
    usage: z.strictObject({ credits: z.number() }).optional().describe('What it cost, once it has ended.'),
  })
  .meta({ id: 'Job' });

export function jobView(job: Job): z.infer<typeof jobSchema> {
  return {
    id: job.id,
    object: 'job',
    status: job.status,
    kind: job.kind,
    model: job.model,
    progress: job.progress,
    created_at: unixSeconds(job.createdAt),
    ...(job.updatedAt === null ? {} : { updated_at: unixSeconds(job.updatedAt) }),
    ...(job.finishedAt === null ? {} : { finished_at: unixSeconds(job.finishedAt) }),
    dispatch_deadline_at: unixSeconds(job.dispatchDeadlineAt),
    ...(job.errorCode === null ? {} : { error_code: job.errorCode, error: JOB_FAULTS[job.errorCode] }),
    ...(job.charged === null ? {} : { usage: { credits: creditsToNumber(job.charged) } }),
  };
}

export const jobRequestSchema = z
  .strictObject({
    object: z.literal('job_request'),
    job_id: z.string(),
    endpoint: z.enum(ENDPOINTS),
    path: z.string().describe('Where the body is to be posted to.'),
    body: z
      .record(z.string(), z.unknown())
      .describe(
        'As it was asked, with the `url` of each input in the place of media. Inputs without one are not in it.',
      ),
    inputs: z.array(
      z.strictObject({
        field: z.string().describe('Where it stands in the body, such as `reference_images[1]`.'),
        mime_type: z.string(),
        bytes: z.int(),
        link: z
          .string()
          .nullable()
          .describe(
            'To look at it, for 15 minutes; null when it is not stored any more. What came with a request goes with its end.',
          ),
        url: z
          .string()
          .nullable()
          .describe(
            'What a new request may name: a link to a file of the account, or the address that it was fetched from.',
          ),
        kept_until: seconds.nullable(),
      }),
    ),
    can_run_again: z.boolean().describe('Whether every input has a `url`; otherwise it must be sent anew.'),
    timeline: z.strictObject({
      created_at: seconds,
      dispatch_deadline_at: seconds.describe('When it expires unless an upstream has accepted it.'),
      accepted_at: seconds.nullable(),
      finished_at: seconds.nullable(),
    }),
  })
  .meta({ id: 'JobRequest' });

export function jobRequestView({ job, body, inputs }: JobRequest): z.infer<typeof jobRequestSchema> {
  return {
    object: 'job_request',
    job_id: job.id,
    endpoint: job.endpoint,
    path: ENDPOINT_PATHS[job.endpoint],
    body,
    inputs: inputs.map(({ path, mimeType, bytes, link, url, keptUntil }) => ({
      field: path,
      mime_type: mimeType,
      bytes,
      link: link ?? null,
      url: url ?? null,
      kept_until: keptUntil === undefined ? null : unixSeconds(keptUntil),
    })),
    can_run_again: inputs.every(({ url }) => url !== undefined),
    timeline: {
      created_at: unixSeconds(job.createdAt),
      dispatch_deadline_at: unixSeconds(job.dispatchDeadlineAt),
      accepted_at: job.acceptedAt === null ? null : unixSeconds(job.acceptedAt),
      finished_at: job.finishedAt === null ? null : unixSeconds(job.finishedAt),
    },
  };
}

const assetSchema = z
  .strictObject({
    id: z.string().regex(/^ast_/),
    job_id: z.string(),
    ordinal: z.int().min(0),
    kind: z.enum(['image', 'video', 'audio', 'thumbnail']),
    storage: z.enum(['s3', 'disk']).describe('What holds it: a bucket, or a folder of the gateway.'),
    mime_type: z.string(),
    bytes: z.int(),
    width: z.number().optional(),
    height: z.number().optional(),
    seconds: z.number().optional(),
    url: z.string().describe('Works for 15 minutes, without a credential.'),
    expires_at: seconds,
    created_at: seconds,
  })
  .meta({ id: 'Asset' });

export const assetsSchema = z.strictObject({ items: z.array(assetSchema) });

export function assetView(asset: LinkedAsset): z.infer<typeof assetSchema> {
  return {
    id: asset.id,
    job_id: asset.jobId,
    ordinal: asset.ordinal,
    kind: asset.kind,
    storage: asset.storage,
    mime_type: asset.mimeType,
    bytes: asset.bytes,
    ...(asset.width === undefined ? {} : { width: asset.width }),
    ...(asset.height === undefined ? {} : { height: asset.height }),
    ...(asset.seconds === undefined ? {} : { seconds: asset.seconds }),
    url: asset.url,
    expires_at: unixSeconds(asset.expiresAt),
    created_at: unixSeconds(asset.createdAt),
  };
}
