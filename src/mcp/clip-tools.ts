import { z } from 'zod';
import { MCP_WAIT_SECONDS_MAX } from '../limits.ts';
import type { Maker } from './maker.ts';
import { REFERENCE, urlOf } from './references.ts';

const model = z.string().optional().describe('An id of list_models; by default the first that can do it.');

export const waitField = z
  .union([z.boolean(), z.number().min(0).max(MCP_WAIT_SECONDS_MAX)])
  .optional()
  .describe(`Whether to wait for the result, or for how many seconds, at most ${MCP_WAIT_SECONDS_MAX}.`);

const video = z.object({
  prompt: z.string().min(1).describe('What happens in the clip.'),
  model,
  seconds: z.number().positive().optional().describe('How long it is.'),
  size: z.string().optional().describe('Such as 1280x720. Not together with aspect_ratio or resolution.'),
  aspect_ratio: z.string().optional().describe('Such as 16:9.'),
  resolution: z.string().optional().describe('Such as 720p.'),
  first_frame: z.string().min(1).optional().describe(`The picture that it begins with. ${REFERENCE}`),
  last_frame: z.string().min(1).optional().describe(`The picture that it ends with. ${REFERENCE}`),
  generate_audio: z.boolean().optional().describe('With sound, where the model can.'),
  seed: z.int().optional(),
  wait: waitField,
});

export const generateVideo: Maker<typeof video, 'videos'> = {
  name: 'generate_video',
  title: 'Make a clip',
  description:
    'Makes a video clip from a prompt, and from a first frame where one is given. Costs credits and takes a while: where it does not end in time, the answer has a job_id for get_job.',
  input: video,
  endpoint: 'videos',
  scope: 'user:inference:video',
  body: async (deps, call, { first_frame, last_frame, ...fields }) => ({
    ...fields,
    first_frame: first_frame === undefined ? undefined : await urlOf(deps, call, first_frame),
    last_frame: last_frame === undefined ? undefined : await urlOf(deps, call, last_frame),
  }),
};

const music = z.object({
  prompt: z.string().min(1).describe('What it sounds like.'),
  model,
  lyrics: z.string().min(1).optional(),
  seconds: z.number().positive().optional().describe('How long it is.'),
  instrumental: z.boolean().optional(),
  format: z.enum(['mp3', 'wav', 'opus', 'flac', 'aac', 'ogg']).optional(),
  seed: z.int().optional(),
  wait: waitField,
});

export const generateMusic: Maker<typeof music, 'audio_music'> = {
  name: 'generate_music',
  title: 'Make music',
  description:
    'Makes a piece of music from a prompt. Costs credits and takes a while: where it does not end in time, the answer has a job_id for get_job.',
  input: music,
  endpoint: 'audio_music',
  scope: 'user:inference:audio',
  body: async (_deps, _call, { seconds, ...fields }) => ({ ...fields, duration_seconds: seconds }),
};
