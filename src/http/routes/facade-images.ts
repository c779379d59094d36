import { z } from 'zod';
import { IMAGE_JSON_BYTES_MAX, IMAGE_MULTIPART_BYTES_MAX } from '../../limits.ts';
import { optional, parseWith } from '../../parse.ts';
import { type Form, fromForm, imageSchemas, toImageRequest } from '../../schemas/index.ts';
import { EXAMPLE_IMAGE } from '../contract/example-image.ts';
import { FACADE } from '../contract/facade.ts';
import type { HttpDeps } from '../deps.ts';
import { FORM_TO_READ, type Routes } from '../edge/route.ts';
import { picturesSchema } from '../views/facade-images.ts';
import { sentForm, sentJson, withStoredForm } from './create-call.ts';
import { answerWithPictures, type PictureForm } from './facade-pictures.ts';
import { WAIT_CODES, WAIT_CODES_AS_400 } from './facade-wait.ts';
import { EDIT_FILES, IMAGE_CODES } from './images.ts';

/** What client libraries send beside a request to a model. */
const clientFields = z.object({
  stream: optional(z.boolean()),
  partial_images: optional(z.number()).describe('Taken and not used: no partial pictures are made.'),
  user: optional(z.string()),
  safety_identifier: optional(z.string()),
  moderation: optional(z.string()),
  style: optional(z.string()),
  response_format: optional(z.enum(['url', 'b64_json'], { error: 'invalid_response_format' })).describe(
    'Without it, pictures are answered in base64.',
  ),
});

/** Words that leave a field to the model. */
const WORDS_FOR_NOTHING: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['size', ['auto']],
  ['quality', ['auto', 'standard']],
  ['background', ['auto']],
]);

function isForModel(name: string, value: unknown): boolean {
  return !Object.hasOwn(clientFields.shape, name) && WORDS_FOR_NOTHING.get(name)?.includes(value) !== true;
}

/** The fields that are the model's. */
function forModel<Body extends object>(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => isForModel(name, value))) as Body;
}

function formOf({ stream, response_format }: z.output<typeof clientFields>): PictureForm {
  return { isStreamed: stream === true, asLinks: response_format === 'url' };
}

const ANSWER = {
  access: 'caller',
  scope: 'user:inference:image',
  answers: { 200: picturesSchema },
  otherMedia: ['text/event-stream'],
  codesAs400: WAIT_CODES_AS_400,
} as const;

/** Pictures answered by the request that asks for them, on top of the same jobs. */
export function facadeImageRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      ...ANSWER,
      method: 'POST',
      path: `${FACADE}/images/generations`,
      summary: 'Make images, and wait for them',
      logged: 'images',
      example: { model: 'sandbox/image', prompt: 'a toll gate at sunrise by the sea' },
      body: {
        kind: 'json',
        schema: imageSchemas.images.extend(clientFields.shape),
        bytesMax: IMAGE_JSON_BYTES_MAX,
      },
      codes: [...IMAGE_CODES, ...WAIT_CODES],
    },
    ({ body, exact, ...call }) => {
      const json = exact();
      const media = toImageRequest(forModel(body), forModel(json), 'images');
      return answerWithPictures(
        deps,
        call,
        { endpoint: 'images', media, fingerprint: sentJson(call, json) },
        formOf(body),
      );
    },
  );

  routes.add(
    {
      ...ANSWER,
      method: 'POST',
      path: `${FACADE}/images/edits`,
      summary: 'Change images, and wait for them',
      logged: 'image_edits',
      example: { model: 'sandbox/image', prompt: 'the same at night', image: EXAMPLE_IMAGE },
      body: {
        kind: 'json or form',
        schema: imageSchemas.image_edits.extend(clientFields.shape),
        bytesMax: IMAGE_JSON_BYTES_MAX,
        formBytesMax: IMAGE_MULTIPART_BYTES_MAX,
      },
      codes: [...IMAGE_CODES, ...WAIT_CODES, 'missing_image', 'unexpected_file'],
    },
    ({ body, exact, ...call }) => {
      const endpoint = 'image_edits';
      if (body !== FORM_TO_READ) {
        const json = exact();
        const media = toImageRequest(forModel(body), forModel(json), endpoint);
        return answerWithPictures(deps, call, { endpoint, media, fingerprint: sentJson(call, json) }, formOf(body));
      }
      return withStoredForm(deps, call, EDIT_FILES, (form, sent) => {
        const media = fromForm(endpoint, modelForm(form));
        const wanted = formOf(parseWith(clientFields, clientValues(form)));
        return answerWithPictures(deps, call, { endpoint, media, fingerprint: sentForm(call, sent) }, wanted);
      });
    },
  );
}

function modelForm({ values, files }: Form): Form {
  return { values: values.filter(([name, value]) => isForModel(name, value)), files };
}

function clientValues({ values }: Form): object {
  const sent = new Map(values);
  return { stream: sent.get('stream') === 'true', response_format: sent.get('response_format') || undefined };
}
