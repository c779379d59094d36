import type { JsonObject } from '../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { defined } from '../kit/json.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseLength, refuseOutside } from '../kit/refusals.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { checkDesign, designBody, isDesigner, previewsIn } from './design.ts';
import { formatFor, refuseExtra, SAMPLE_RATE, TEXT_CHARS_MAX, versionOf } from './fields.ts';
import { wire } from './wire.ts';

type Request = SoundRequest<Media>;

const FIELDS = ['input', 'prompt', 'voice', 'referenceId', 'format', 'sampleRate', 'speed'] as const;
const DIRECTIONS_CHARS_MAX = 1000;

/** Speech, and voices that are made from a description: the model says which. */
export const speech: SpeechWork = {
  check(request, upstreamModel) {
    if (isDesigner(upstreamModel)) return checkDesign(request);
    // The vendor would choose a version itself, at another price.
    if (versionOf(upstreamModel) === undefined) throw unsupported('model', 'another value');
    bodyOf(request, upstreamModel);
  },

  /** The whole file: parts of a stream would each be a file of their own. */
  async speak(request, upstream) {
    const body = { json: bodyOf(request, upstream.model) };
    const pieces = await wire.sound(upstream, { path: '/v0/tts/file', accept: '*/*', body });
    return request.format === 'pcm' ? { pieces, samples: { rate: SAMPLE_RATE, channels: 1 } } : { pieces };
  },

  async design(request, upstream) {
    const call = { path: '/v0/tts', body: { json: designBody(request) } };
    const answer = await wire.jsonWithBlobs(upstream, call, 'audio', UPSTREAM_RESPONSE_BYTES_MAX);
    return previewsIn(answer, request.voiceDescription);
  },
};

/** Throws ApiError for what the model cannot take. */
function bodyOf(request: Request, model: string): JsonObject {
  refuseFields(request, FIELDS, SOUND_NAMES);
  const { input: text, prompt: description, speed, extra } = request;
  refuseExtra(extra);
  if (!text) throw unsupported('input', { atLeast: 1, unit: 'character' });
  refuseLength('input', text, 1, TEXT_CHARS_MAX);
  if (description !== undefined) refuseLength('prompt', description, 0, DIRECTIONS_CHARS_MAX);
  refuseOutside('speed', speed, 0.5, 2);
  const { trailing_silence, ...rest } = extra;
  const utterance = { text, ...defined({ description: description || undefined, speed, trailing_silence }) };
  return {
    ...rest,
    utterances: [{ ...utterance, voice: voiceOf(request) }],
    format: formatFor(request, ['mp3', 'wav', 'pcm']),
    ...defined({ version: versionOf(model) }),
    num_generations: 1,
  };
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A voice of the vendor's library is a `voice`, one of the account's own a `reference_id`; both have names and ids. Without
 * one the vendor would make up another each time, and it would look among the account's own unless told otherwise.
 */
function voiceOf({ voice, referenceId }: Request): JsonObject {
  if (voice && referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  const named = referenceId || voice;
  if (!named) throw unsupported('voice', { atLeast: 1 });
  return { [ID.test(named) ? 'id' : 'name']: named, provider: referenceId ? 'CUSTOM_VOICE' : 'HUME_AI' };
}
