import { z } from 'zod';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { inField, optional } from '../parse.ts';
import {
  flagField,
  modelField,
  oneOf,
  ratioField,
  requireAny,
  secondsField,
  sizeField,
  textField,
  wholeField,
} from './fields.ts';
import type { MediaSource, VideoRequest } from './media-requests.ts';
import { passthrough, unmodelled } from './passthrough.ts';
import { clipOf, listField, pictureIn, picturesOf, referenceField, VIDEO_SLOT } from './references.ts';

const INVALID = 'invalid_input_reference';
const reference = optional(referenceField(INVALID));
const clip = z.string({ error: INVALID }).min(1, { error: INVALID });

// A common client library sends the length as text.
const secondsText = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,6})?$/)
  .transform(Number)
  .pipe(secondsField('invalid_seconds'));
const seconds = optional(z.union([secondsField('invalid_seconds'), secondsText], { error: 'invalid_seconds' }));

/** The fields alone, for a body whose pictures come beside it. */
export const videoFields = z.object({
  model: modelField,
  prompt: textField,
  seconds,
  duration: seconds.describe('The same as `seconds`.'),
  resolution: textField,
  size: sizeField,
  aspect_ratio: ratioField,
  ratio: ratioField.describe('The same as `aspect_ratio`.'),
  fps: optional(z.int({ error: 'invalid_fps' }).min(0, { error: 'invalid_fps' })),
  seed: wholeField,
  negative_prompt: textField,
  camera_fixed: flagField,
  watermark: flagField,
  generate_audio: flagField,
  input_reference: reference.describe('A picture to go by; it is never a frame.'),
  reference_image_urls: listField(referenceField(INVALID), INVALID),
  first_frame: reference,
  image: reference.describe('The same as `first_frame`.'),
  image_url: reference.describe('The same as `first_frame`.'),
  last_frame: reference,
  reference_videos: listField(clip, INVALID),
  reference_audios: listField(clip, INVALID),
  ref_video_url: optional(clip),
  video_url: optional(clip).describe('The same as `ref_video_url`.'),
  extra: optional(z.object({})).describe('Passed on to the model as it is.'),
});
type ParsedBody = z.output<typeof videoFields>;

/** What a clip can be made from without a prompt. */
const INSTEAD_OF_PROMPT = [
  'input_reference',
  'reference_image_urls',
  'first_frame',
  'image',
  'image_url',
  'reference_videos',
  'reference_audios',
  'ref_video_url',
  'video_url',
] as const satisfies readonly (keyof typeof videoFields.shape)[];

export const videoSchema = z.preprocess(
  requireAny('missing_prompt', (body) => isText(body.prompt) || INSTEAD_OF_PROMPT.some((name) => isGiven(body[name]))),
  videoFields,
);

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** `exact` is the same body with every number as it was written; `file` is an `input_reference` that came beside it. */
export function toVideoRequest(parsed: ParsedBody, exact: JsonObject, file?: MediaSource): VideoRequest<MediaSource> {
  if (file !== undefined && parsed.input_reference !== undefined) {
    const message = '"input_reference" is given as a file and as a text.';
    throw new ApiError('conflicting_parameters', { message, param: 'input_reference' });
  }
  const { first_frame, image, image_url, ref_video_url, video_url } = parsed;
  const length = oneOf({ seconds: parsed.seconds, duration: parsed.duration });
  const aspectRatio = oneOf({ aspect_ratio: parsed.aspect_ratio, ratio: parsed.ratio });
  const firstFrame = oneOf({ first_frame, image, image_url });
  const sourceVideo = oneOf({ ref_video_url, video_url });
  return {
    kind: 'video',
    model: parsed.model,
    prompt: parsed.prompt,
    seconds: length || undefined,
    resolution: parsed.resolution,
    size: parsed.size,
    aspectRatio,
    fps: parsed.fps || undefined,
    seed: parsed.seed,
    negativePrompt: parsed.negative_prompt,
    cameraFixed: parsed.camera_fixed,
    watermark: parsed.watermark,
    generateAudio: parsed.generate_audio,
    inputReference: pictureIn('input_reference', parsed.input_reference, VIDEO_SLOT) ?? file,
    referenceImages: picturesOf('reference_image_urls', parsed.reference_image_urls, VIDEO_SLOT),
    firstFrame: pictureIn('first_frame', firstFrame, VIDEO_SLOT),
    lastFrame: pictureIn('last_frame', parsed.last_frame, VIDEO_SLOT),
    referenceVideos: fetched('reference_videos', parsed.reference_videos),
    referenceAudios: fetched('reference_audios', parsed.reference_audios),
    sourceVideo:
      sourceVideo === undefined
        ? undefined
        : inField('ref_video_url', () => clipOf(sourceVideo, { mayBeInline: true })),
    extra: passthrough(extraOf(exact)),
  };
}

function fetched(field: string, urls: readonly string[] = []): MediaSource[] {
  return urls.map((url, place) => inField(`${field}[${place}]`, () => clipOf(url, { mayBeInline: false })));
}

/** Unmodelled keys at the top level and in `extra` are the same; where both name one, the top level wins. */
function extraOf(exact: JsonObject): JsonObject {
  const { extra: _, ...modelled } = videoFields.shape;
  const block = Object.entries(unmodelled(blockOf(exact), {})).filter(([name]) => {
    if (!Object.hasOwn(modelled, name)) return true;
    if (isGiven(exact[name])) return false;
    // Passed on unread, it would escape the checks and the price.
    const message = `"extra.${name}": give "${name}" at the top level.`;
    throw new ApiError('unsupported_parameter', { message, param: `extra.${name}` });
  });
  return { ...Object.fromEntries(block), ...unmodelled(exact, videoFields.shape) };
}

/** The schema has seen to it that it is an object, if it is there. */
function blockOf({ extra }: JsonObject): JsonObject {
  return (extra ?? {}) as JsonObject;
}
