import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { getAssets, type Job, videos } from '../../jobs/index.ts';
import { VIDEO_BODY_BYTES_MAX } from '../../limits.ts';
import {
  type Form,
  fromForm,
  type MediaSource,
  toVideoRequest,
  type VideoRequest,
  videoSchema,
} from '../../schemas/index.ts';
import { FACADE, POLL_AFTER_HEADER } from '../contract/facade.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { FORM_TO_READ, page, type Routes } from '../edge/route.ts';
import { deletedVideoSchema, videoListSchema, videoView, videoViewSchema } from '../views/facade-videos.ts';
import {
  type CreateCall,
  derivedKey,
  jobFor,
  type MediaOrder,
  sentForm,
  sentJson,
  withStoredForm,
} from './create-call.ts';
import { namedFile } from './named-file.ts';
import { VIDEO_CODES, VIDEO_FILES } from './videos.ts';

const PATH = `${FACADE}/videos`;
const POLL_AFTER_MS = 3_000;
const HEADERS = { 'cache-control': 'private, no-store', [POLL_AFTER_HEADER]: String(POLL_AFTER_MS) };

const listQuery = pageQuery.extend({ order: z.enum(['asc', 'desc']).default('desc') });
const contentQuery = z.object({ variant: z.enum(['video', 'thumbnail', 'spritesheet']).default('video') });

/** Videos with the words and shapes of client libraries that look after them by themselves. */
export function facadeVideoRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: PATH,
      summary: 'Make a video; answers at once, and is to be read until it has ended',
      access: 'caller',
      scope: 'user:inference:video',
      logged: 'videos',
      example: { model: 'sandbox/video', prompt: 'waves at a gate', seconds: '4' },
      body: {
        kind: 'json or form',
        schema: videoSchema,
        bytesMax: VIDEO_BODY_BYTES_MAX,
        formBytesMax: VIDEO_BODY_BYTES_MAX,
      },
      answers: { 200: videoViewSchema },
      codes: [...VIDEO_CODES, 'file_not_found', 'database_unavailable'],
    },
    ({ body, exact, ...call }) => {
      if (body !== FORM_TO_READ) {
        const json = exact();
        return answerWithVideo(deps, call, toVideoRequest(body, json), sentJson(call, json));
      }
      return withStoredForm(deps, call, VIDEO_FILES, async (form, sent) => {
        const media = fromForm('videos', await withFileLinks(deps, call, form));
        return answerWithVideo(deps, call, media, sentForm(call, sent));
      });
    },
  );
  routes.add(
    {
      method: 'GET',
      path: PATH,
      summary: 'The videos of the account, newest first unless asked otherwise',
      access: 'caller',
      scope: 'user:jobs',
      query: listQuery,
      answers: { 200: videoListSchema },
      codes: ['database_unavailable'],
    },
    async ({ accountId, query: { limit, after, order }, reply }) => {
      reply.headers(HEADERS);
      const read = (most: number) => videos.listVideos(deps.db, accountId, { limit: most, after, order });
      const list = await page(limit, read, videoView);
      return { ...list, first_id: list.data[0]?.id ?? null, last_id: list.data.at(-1)?.id ?? null };
    },
  );
  objectRoutes(routes, deps);
}

function objectRoutes(routes: Routes, deps: HttpDeps): void {
  const path = `${PATH}/{job_id}`;
  routes.add(
    {
      method: 'GET',
      path,
      summary: 'How a video is doing',
      access: 'caller',
      scope: 'user:jobs',
      answers: { 200: videoViewSchema },
      codes: ['job_not_found', 'database_unavailable'],
    },
    async ({ accountId, param, reply }) => {
      reply.headers(HEADERS);
      return videoView(await videos.getVideo(deps, accountId, param('job_id')));
    },
  );
  routes.add(
    {
      method: 'GET',
      path: `${path}/content`,
      summary: 'Leads to the video, or to its thumbnail where there is one',
      access: 'caller',
      scope: 'user:jobs',
      query: contentQuery,
      answers: { 302: null },
      codes: ['job_not_found', 'job_asset_not_ready', 'not_found', 'job_service_unavailable', 'database_unavailable'],
    },
    async ({ accountId, param, query: { variant }, reply }) => {
      const { id } = await videos.getVideo(deps, accountId, param('job_id'));
      const asset = (await getAssets(deps, accountId, id)).find(({ kind }) => kind === variant);
      if (asset === undefined) throw new ApiError('not_found', { message: `This video has no ${variant}.` });
      return reply.headers(HEADERS).redirect(asset.url, 302);
    },
  );
  routes.add(
    {
      method: 'DELETE',
      path,
      summary: 'Forget what a job has made; the job and what it cost stay',
      access: 'caller',
      scope: 'user:inference:video',
      answers: { 200: deletedVideoSchema },
      codes: ['job_not_found', 'job_asset_not_ready', 'database_unavailable'],
    },
    async ({ caller, param, request }) => {
      const id = param('job_id');
      const actor = { name: caller.keyId ?? caller.accountId, requestId: request.id };
      await videos.deleteVideo(deps, actor, caller.accountId, id);
      return { id, object: 'video.deleted', deleted: true };
    },
  );
}

async function answerWithVideo(
  deps: HttpDeps,
  call: CreateCall,
  media: VideoRequest<MediaSource>,
  fingerprint: MediaOrder['fingerprint'],
) {
  const order = { endpoint: 'videos', media, fingerprint } as const;
  const job: Job = await jobFor(deps, call, order, derivedKey(call.request, order));
  call.reply.headers({ ...HEADERS, 'x-job-id': job.id });
  const { prompt = null, seconds = null, size = null } = media;
  const made = { madeSeconds: null, madeWidth: null, madeHeight: null };
  return videoView({ ...job, prompt, seconds, size, ...made });
}

const FILE_ID = 'input_reference[file_id]';

/** A file of the account that is named by its id is given as its link. */
async function withFileLinks(deps: HttpDeps, { caller }: CreateCall, form: Form): Promise<Form> {
  const values = form.values.map(async ([name, value]) => {
    if (name !== FILE_ID) return [name, value] as const;
    return ['input_reference[image_url]', (await namedFile(deps, caller, value)).url] as const;
  });
  return { ...form, values: await Promise.all(values) };
}
