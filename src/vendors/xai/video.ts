import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { failed } from '../kit/faults.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, objectAt, requiredString, stringAt } from '../kit/json.ts';
import { as, type FieldMap, mapFields, oneOf, type WireFields, type WireMedia } from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { askAfter, isSuccess, stateIn, type TaskAnswer } from '../kit/queue.ts';
import { refuse, refuseKeys, refuseLength } from '../kit/refusals.ts';
import type { Media, Progress, TaskWork } from '../vendor.ts';
import { wire } from './wire.ts';

type Request = VideoRequest<Media>;

const PROMPT_CHARS_MAX = 4096;
const SECONDS = { min: 1, max: 15 };
const PICTURES_MAX = 7;
const SOUNDS_MAX = 3;
const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];
const TIERS = ['480p', '720p'];
/** The first models have neither the highest tier nor an end. A model that is not known takes what the latest ones take. */
const FIRST_MODELS = /^grok-imagine-video(-beta)?$/;

/** What public fields decide, and what would take the result elsewhere. */
const RESERVED = [
  ...['duration', 'resolution', 'generate_audio', 'image', 'last_frame', 'keyframes', 'video', 'storage_options'],
  ...['reference_images', 'reference_audios'],
];

/**
 * The models make sound unless told not to; where it was not asked for, it is not in the price. Nor is another tier than
 * the lowest, which is what they choose by themselves.
 */
const UNSTATED: WireFields = { generate_audio: false, resolution: '480p' };

const none = () => ({});
const TAKES: FieldMap<Request> = {
  prompt: as('prompt'),
  seconds: (seconds, field): WireFields => {
    const isTaken = Number.isInteger(seconds) && seconds >= SECONDS.min && seconds <= SECONDS.max;
    refuse(field, !isTaken, { from: SECONDS.min, to: SECONDS.max });
    return { duration: seconds };
  },
  aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspect_ratio', RATIOS)(ratio, field)),
  generateAudio: as('generate_audio'),
  ...{ inputReference: none, referenceImages: none, firstFrame: none, lastFrame: none, referenceAudios: none },
};

/** Nothing finds a task again whose submission got no answer. */
export const video: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, model);
  },

  perCall: () => 1,

  async submit(request, _order, upstream) {
    const { model } = upstream;
    const path = request.sourceVideo === undefined ? '/videos/generations' : '/videos/edits';
    const body = jsonWithMedia({ ...request.extra, ...fieldsOf(request, model), model });
    const answer = await wire.json(upstream, { path, body, accepts: [200, 202] });
    return { state: 'accepted', task: { id: requiredString(answer, 'request_id') } };
  },

  async poll(task, upstream) {
    const path = `/videos/${encodeURIComponent(requiredString(task, 'id'))}`;
    const answer = await askAfter(wire, upstream, path, LOST);
    if (!isSuccess(answer)) return failed('server', `the task is lost: ${answer.status}`);
    wire.faults.throwIfError(answer.body ?? {});
    switch (stateOf(answer)) {
      case 'running':
        return { state: 'running', ...percentIn(answer.body) };
      case 'done':
        return result(answer.body ?? {});
      case 'failed':
        return failure(answer.body ?? {});
    }
  },
};

const LOST = [404, 410];

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): Record<string, WireMedia> {
  refuseLength('prompt', request.prompt ?? '', request.firstFrame === undefined ? 1 : 0, PROMPT_CHARS_MAX);
  const takes: FieldMap<Request> = { ...TAKES, resolution: tierOf(request, model) };
  if (request.sourceVideo !== undefined) return editOf(request, request.sourceVideo, takes);
  const fields = mapFields(request, { takes, always: UNSTATED }, VIDEO_NAMES);
  return { ...fields, ...mediaOf(request, model) };
}

/** A clip that is changed keeps its own length, shape and tier: what else the model takes is not for it. */
function editOf(request: Request, clip: Media, takes: FieldMap<Request>): Record<string, WireMedia> {
  const edit: FieldMap<Request> = { prompt: as('prompt'), sourceVideo: none };
  const others = Object.keys(takes).filter((key) => !Object.hasOwn(edit, key));
  const withClip: FieldMap<Request> = Object.fromEntries(others.map((key) => [key, notWithClip]));
  return { ...mapFields(request, { takes: { ...withClip, ...edit } }, VIDEO_NAMES), video: { url: clip } };
}

/** Sound that is not wanted is none. */
function notWithClip(value: unknown, field: string): WireFields {
  if (value !== false) throw unsupported(field, { notWith: 'ref_video_url' });
  return {};
}

function tierOf(request: Request, model: string) {
  const isLower = FIRST_MODELS.test(model) || picturesOf(request).length > 0;
  const tiers = isLower ? TIERS : [...TIERS, '1080p'];
  return (tier: string, field: string) => oneOf('resolution', tiers)(tier.toLowerCase(), field);
}

function picturesOf({ inputReference, referenceImages }: Request): readonly Media[] {
  return inputReference === undefined ? referenceImages : [inputReference, ...referenceImages];
}

function mediaOf(request: Request, model: string): Record<string, WireMedia> {
  const { firstFrame, lastFrame, referenceAudios } = request;
  const pictures = picturesOf(request);
  refuse('last_frame', lastFrame !== undefined && FIRST_MODELS.test(model), 'none');
  refuse('reference_image_urls', pictures.length > PICTURES_MAX, { atMost: PICTURES_MAX });
  refuse('reference_audios', referenceAudios.length > SOUNDS_MAX, { atMost: SOUNDS_MAX });
  const isFramed = firstFrame !== undefined || lastFrame !== undefined;
  const name = request.inputReference === undefined ? 'reference_image_urls' : 'input_reference';
  const frame = firstFrame === undefined ? 'last_frame' : 'first_frame';
  refuse(name, isFramed && pictures.length > 0, { notWith: frame });
  return {
    ...(firstFrame !== undefined && { image: { url: firstFrame } }),
    ...(lastFrame !== undefined && { last_frame: { url: lastFrame } }),
    ...(pictures.length > 0 && { reference_images: pictures.map((url) => ({ url })) }),
    ...(referenceAudios.length > 0 && { reference_audios: referenceAudios.map((url) => ({ url })) }),
  };
}

const STATES = { pending: 'running', done: 'done', failed: 'failed', expired: 'failed' } as const;

/** A task at work may have an answer without a body, and one that is done an answer without a status. */
function stateOf({ status, body }: TaskAnswer): (typeof STATES)[keyof typeof STATES] {
  if (body?.status !== undefined) return stateIn<(typeof STATES)[keyof typeof STATES]>(body, STATES);
  if (status === 202) return 'running';
  if (stringAt(body, 'block_reason') || objectAt(body, 'video') !== undefined) return 'done';
  throw new UpstreamError('garbled', 'an answer without a status');
}

function percentIn(answer: JsonObject | undefined): { percent?: number } {
  const percent = amountAt(answer, 'progress');
  return percent === undefined ? {} : { percent };
}

/** The link dies, and is fetched right after this, without the key. */
function result(answer: JsonObject): Progress {
  const clip = objectAt(answer, 'video');
  const reason = stringAt(answer, 'block_reason');
  if (clip?.respect_moderation === false || reason) return failed('policy', `the clip was withheld: ${reason}`);
  const credits = amountAt(objectAt(answer, 'usage'), 'cost_in_usd_ticks');
  const usage = { seconds: amountAt(clip, 'duration'), credits };
  return { state: 'succeeded', outputs: [{ url: requiredString(clip, 'url') }], usage };
}

function failure(answer: JsonObject): Progress {
  const detail = JSON.stringify({ status: answer.status, error: answer.error });
  return failed(wire.faults.ofBody(answer) ?? 'server', detail);
}
