import type { JsonObject } from '../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { defined, isObject } from '../kit/json.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseOutside } from '../kit/refusals.ts';
import type { CallBody } from '../kit/wire.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { designFields, isDesigner, previewsIn } from './design.ts';
import { formatFor } from './formats.ts';
import { msgpackWithMedia } from './msgpack.ts';
import { refuseModel, wire } from './wire.ts';

type Request = SoundRequest<Media>;

const MODELS = /^(s\d+(\.\d+)?(-pro(-free)?)?|drama-\d+(-preview)?|speech-1\.\d)$/;
const FIELDS: readonly (keyof Request)[] = [
  ...([
    'input',
    'voice',
    'referenceId',
    'referenceAudio',
    'format',
    'sampleRate',
    'bitrate',
    'speed',
    'volume',
  ] as const),
];

/** Sound that comes while it is made, and voices that are made from a description: the model says which. */
export const speech: SpeechWork = {
  check(request, upstreamModel) {
    if (isDesigner(upstreamModel)) return void designFields(request);
    refuseModel(upstreamModel, MODELS);
    bodyOf(request);
  },

  async speak(request, upstream) {
    const headers = { model: upstream.model };
    const pieces = await wire.sound(upstream, { path: '/v1/tts', headers, accept: '*/*', body: bodyOf(request) });
    const { format, sample_rate: rate } = formatFor(request);
    return format === 'pcm' ? { pieces, samples: { rate, channels: 1 } } : { pieces };
  },

  async design(request, upstream) {
    const body = { json: { ...request.extra, ...designFields(request) } };
    const call = { path: '/v1/voice-design', headers: { model: upstream.model }, body };
    const answer = await wire.jsonWithBlobs(upstream, call, 'audio_base64', UPSTREAM_RESPONSE_BYTES_MAX);
    return previewsIn(answer, request.voiceDescription);
  },
};

/** Throws ApiError for what no model takes. Samples of a voice go as bytes, which JSON has no place for. */
function bodyOf(request: Request): CallBody {
  refuseFields(request, FIELDS, SOUND_NAMES);
  // The public fields decide these, and samples are checked before they are sent.
  refuseKeys(request.extra, ['opus_bitrate', 'references']);
  const { input: text, referenceAudio, extra } = request;
  if (!text) throw unsupported('input', { atLeast: 1, unit: 'character' });
  const voice = defined({ reference_id: voiceOf(request) });
  const fields = { ...extra, text, ...voice, ...formatFor(request), ...prosodyOf(request) };
  if (referenceAudio.length === 0) return { json: fields };
  // What is said in a sample is not known here.
  return msgpackWithMedia({ ...fields, references: referenceAudio.map((audio) => ({ audio, text: '' })) });
}

/** A voice is an id here, wherever the caller wrote it; none is the vendor's own. */
function voiceOf({ voice, referenceId = voice, referenceAudio }: Request): string | undefined {
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  if (referenceId !== undefined && referenceAudio.length > 0)
    throw unsupported('reference_audio', { notWith: voice === undefined ? 'reference_id' : 'voice' });
  return referenceId;
}

/** Settings of the caller's own stay as they were sent. */
function prosodyOf({ speed, volume, extra }: Request): JsonObject {
  refuseOutside('speed', speed, 0.5, 2);
  refuseOutside('volume', volume, -20, 20);
  if (speed === undefined && volume === undefined) return {};
  return { prosody: { ...(isObject(extra.prosody) && extra.prosody), ...defined({ speed, volume }) } };
}
