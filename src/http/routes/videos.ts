import { ApiError, type ErrorCode } from '../../errors.ts';
import { inlineRules } from '../../jobs/index.ts';
import { VIDEO_BODY_BYTES_MAX } from '../../limits.ts';
import { fromForm, toVideoRequest, videoSchema } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import { FORM_TO_READ, type Routes } from '../edge/route.ts';
import { answerWithJob, CREATE_CODES, JOB_ANSWERS, sentForm, sentJson, withStoredForm } from './create-call.ts';

const endpoint = 'videos';

export const VIDEO_CODES = [
  ...CREATE_CODES,
  'missing_prompt',
  'invalid_seconds',
  'invalid_fps',
  'invalid_input_reference',
  'empty_image',
  'unreadable_image',
  'unsupported_image_format',
  'image_too_large',
  'unexpected_file',
] as const satisfies readonly ErrorCode[];

export function videoRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/videos',
      summary: 'Make a video; answers with a job',
      access: 'caller',
      scope: 'user:inference:video',
      console: 'run',
      logged: endpoint,
      example: { model: 'sandbox/video', prompt: 'waves at a gate', seconds: 4, resolution: '480p' },
      body: {
        kind: 'json or form',
        schema: videoSchema,
        bytesMax: VIDEO_BODY_BYTES_MAX,
        formBytesMax: VIDEO_BODY_BYTES_MAX,
      },
      answers: JOB_ANSWERS,
      codes: VIDEO_CODES,
    },
    ({ body, exact, ...call }) => {
      if (body !== FORM_TO_READ) {
        const json = exact();
        const media = toVideoRequest(body, json);
        return answerWithJob(deps, call, { endpoint, media, fingerprint: sentJson(call, json) });
      }
      return withStoredForm(deps, call, VIDEO_FILES, (form, sent) => {
        const media = fromForm(endpoint, form);
        return answerWithJob(deps, call, { endpoint, media, fingerprint: sentForm(call, sent) });
      });
    },
  );
}

const PICTURE = inlineRules('image');

/** The file of a form that makes a video. */
export const VIDEO_FILES = { formBytesMax: VIDEO_BODY_BYTES_MAX, rulesFor: referenceRules } as const;

function referenceRules(name: string, count: number): typeof PICTURE {
  if (name !== 'input_reference') throw new ApiError('unexpected_file');
  if (count > 0) throw new ApiError('invalid_input_reference');
  return PICTURE;
}
