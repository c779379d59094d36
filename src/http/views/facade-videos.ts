import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { JOB_FAULTS, type Job, type VideoJob } from '../../jobs/index.ts';
import { OUTPUT_KEPT_MS } from '../../limits.ts';

/** Videos in the shape of the facade: every key always, in the words of its client libraries. */

const unix = z.int().describe('Unix seconds.');

export const videoViewSchema = z
  .strictObject({
    id: z.string().describe('The job, at `/v1/jobs` too.'),
    object: z.literal('video'),
    model: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
    progress: z.int().min(0).max(100),
    created_at: unix,
    completed_at: unix.nullable(),
    expires_at: unix.nullable(),
    seconds: z.string().describe('As asked for, else as made; empty while neither is known.'),
    size: z.string().describe('As asked for, else as made; empty while neither is known.'),
    prompt: z.string().nullable(),
    remixed_from_video_id: z.null(),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'Video' });

export const videoListSchema = z.strictObject({
  object: z.literal('list'),
  data: z.array(videoViewSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export const deletedVideoSchema = z.strictObject({
  id: z.string(),
  object: z.literal('video.deleted'),
  deleted: z.literal(true),
});

const STATUS_WORDS = {
  queued: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  queue_expired: 'failed',
  canceled: 'failed',
} as const satisfies Record<Job['status'], string>;

export function videoView(video: VideoJob): z.infer<typeof videoViewSchema> {
  const { status, errorCode, finishedAt, madeWidth, madeHeight } = video;
  const isMade = status === 'succeeded' && finishedAt !== null;
  const madeSize = madeWidth === null || madeHeight === null ? '' : `${madeWidth}x${madeHeight}`;
  return {
    id: video.id,
    object: 'video',
    model: video.model,
    status: STATUS_WORDS[status],
    progress: video.progress,
    created_at: unixSeconds(video.createdAt),
    completed_at: isMade ? unixSeconds(finishedAt) : null,
    expires_at: isMade ? unixSeconds(new Date(finishedAt.getTime() + OUTPUT_KEPT_MS)) : null,
    seconds: secondsText(video.seconds ?? video.madeSeconds),
    size: video.size ?? madeSize,
    prompt: video.prompt,
    remixed_from_video_id: null,
    error: errorCode === null ? null : { code: errorCode, message: JOB_FAULTS[errorCode] },
  };
}

function secondsText(seconds: number | null): string {
  return seconds === null ? '' : String(Math.round(seconds * 1000) / 1000);
}
