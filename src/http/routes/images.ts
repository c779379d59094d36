import { ApiError, type ErrorCode } from '../../errors.ts';
import { inlineRules } from '../../jobs/index.ts';
import { IMAGE_JSON_BYTES_MAX, IMAGE_MULTIPART_BYTES_MAX } from '../../limits.ts';
import { fromForm, imageSchemas, toImageRequest } from '../../schemas/index.ts';
import { EXAMPLE_IMAGE } from '../contract/example-image.ts';
import type { HttpDeps } from '../deps.ts';
import { FORM_TO_READ, type Routes } from '../edge/route.ts';
import { answerWithJob, CREATE_CODES, JOB_ANSWERS, sentForm, sentJson, withStoredForm } from './create-call.ts';

export const IMAGE_CODES = [
  ...CREATE_CODES,
  'missing_prompt',
  'invalid_n',
  'invalid_response_format',
  'invalid_output_format',
  'invalid_input_reference',
  'invalid_mask',
  'empty_mask',
  'empty_image',
  'unreadable_image',
  'unsupported_image_format',
  'image_too_large',
] as const satisfies readonly ErrorCode[];

export function imageRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/images/generations',
      summary: 'Make images; answers with a job',
      access: 'caller',
      scope: 'user:inference:image',
      console: 'run',
      logged: 'images',
      example: { model: 'sandbox/image', prompt: 'a toll gate at sunrise by the sea', aspect_ratio: '16:9' },
      body: { kind: 'json', schema: imageSchemas.images, bytesMax: IMAGE_JSON_BYTES_MAX },
      answers: JOB_ANSWERS,
      codes: IMAGE_CODES,
    },
    ({ body, exact, ...call }) => {
      const json = exact();
      const media = toImageRequest(body, json, 'images');
      return answerWithJob(deps, call, { endpoint: 'images', media, fingerprint: sentJson(call, json) });
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/v1/images/edits',
      summary: 'Change images, sent as files or named by URL; answers with a job',
      access: 'caller',
      scope: 'user:inference:image',
      console: 'run',
      logged: 'image_edits',
      example: { model: 'sandbox/image', prompt: 'the same at night', image: EXAMPLE_IMAGE },
      body: {
        kind: 'json or form',
        schema: imageSchemas.image_edits,
        bytesMax: IMAGE_JSON_BYTES_MAX,
        formBytesMax: IMAGE_MULTIPART_BYTES_MAX,
      },
      answers: JOB_ANSWERS,
      codes: [...IMAGE_CODES, 'missing_image', 'unexpected_file'],
    },
    ({ body, exact, ...call }) => {
      const endpoint = 'image_edits';
      if (body !== FORM_TO_READ) {
        const json = exact();
        const media = toImageRequest(body, json, endpoint);
        return answerWithJob(deps, call, { endpoint, media, fingerprint: sentJson(call, json) });
      }
      return withStoredForm(deps, call, EDIT_FILES, (form, sent) => {
        const media = fromForm(endpoint, form);
        return answerWithJob(deps, call, { endpoint, media, fingerprint: sentForm(call, sent) });
      });
    },
  );
}

const PICTURE = inlineRules('image');
const MASK = { ...PICTURE, empty: 'empty_mask' } as const;

/** The files of a form that changes images. */
export const EDIT_FILES = { formBytesMax: IMAGE_MULTIPART_BYTES_MAX, rulesFor: editFileRules } as const;

function editFileRules(name: string, count: number): typeof PICTURE {
  if (name === 'image' || name === 'image[]') return PICTURE;
  if (name !== 'mask') throw new ApiError('unexpected_file');
  if (count > 0) throw new ApiError('invalid_mask');
  return MASK;
}
