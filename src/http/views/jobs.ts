import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { JOB_FAULTS, type Job, type LinkedAsset } from '../../jobs/index.ts';

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
