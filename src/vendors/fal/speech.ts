import { UpstreamError } from '../../errors.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { voiced } from '../kit/field-maps.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import {
  as,
  type FieldMap,
  firstMatch,
  implied,
  type ModelFamily,
  mapFields,
  single,
  type WireFields,
} from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { kilobits, piecesOf } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { directUrl } from './queue.ts';
import { resultOf } from './results.ts';
import { wire } from './wire.ts';

type Request = SoundRequest<Media>;

const spoken: FieldMap<Request> = { input: as('text') };
const eleven: FieldMap<Request> = {
  ...spoken,
  ...voiced('voice'),
  format: implied('mp3'),
  language: as('language_code'),
};
const cloning: FieldMap<Request> = { ...spoken, seed: as('seed'), referenceAudio: single('audio_url') };

/** Settings that are one field each, made of several of ours. */
const minimax: FieldMap<Request> = {
  ...spoken,
  voice: voiceSetting,
  referenceId: voiceSetting,
  speed: voiceSetting,
  volume: voiceSetting,
  format: audioSetting,
  sampleRate: audioSetting,
  bitrate: audioSetting,
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ModelFamily<Request>])[] = [
  [/\/elevenlabs\/tts\/eleven-v3/, { takes: eleven }],
  [/\/elevenlabs\/tts/, { takes: { ...eleven, speed: as('speed') } }],
  // Otherwise the sound would stand in the answer as hexadecimal digits.
  [/\/minimax\/(preview\/)?speech-/, { takes: minimax, always: { output_format: 'url' } }],
  [/\/kokoro/, { takes: { input: as('prompt'), ...voiced('voice'), speed: as('speed') } }],
  [/\/chatterbox\/text-to-speech$/, { takes: cloning }],
  [/\/orpheus-tts/, { takes: { ...spoken, ...voiced('voice') } }],
  [/\/qwen-3-tts\/text-to-speech/, { takes: { ...spoken, ...voiced('voice') } }],
  [/\/dia-tts$/, { takes: spoken }],
  [
    /\/f5-tts/,
    { takes: { input: as('gen_text'), referenceAudio: single('ref_audio_url') }, always: { model_type: 'F5-TTS' } },
  ],
];

/** Of a model that is not known, all is asked for under the usual names. */
const USUAL: ModelFamily<Request> = {
  takes: {
    ...cloning,
    ...voiced('voice'),
    language: as('language'),
    format: as('output_format'),
    speed: as('speed'),
  },
};

/** Answered on the same line by the vendor's direct host, with the address of a public file. */
export const speech: SpeechWork = {
  check: (request, upstreamModel) => void inputOf(request, upstreamModel),

  async speak(request, upstream) {
    const input = { ...request.extra, ...inputOf(request, upstream.model) };
    const answer = await wire.json(upstream, { path: directUrl(upstream), body: jsonWithMedia(input) });
    const result = resultOf(answer, 'audio');
    const [file] = result.state === 'succeeded' ? result.outputs : [];
    if (file === undefined || 'path' in file) throw new UpstreamError('garbled', 'an answer without sound');
    return 'data' in file ? { pieces: piecesOf(file.data) } : { url: file.url, pieces: piecesOf() };
  },
};

/** Throws ApiError for what the model cannot take. */
function inputOf(request: Request, model: string): WireFields {
  if (request.input === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  const input = mapFields(request, firstMatch(FAMILIES, model) ?? USUAL, SOUND_NAMES);
  // Passed on unread, it would bring the sound in another form.
  for (const name of ['output_format', 'sync_mode'])
    if (name in request.extra && !(name in input)) throw unsupported(name);
  return input;
}

function voiceSetting(_value: unknown, field: string, { voice, referenceId, speed, volume }: Request): WireFields {
  if (voice !== undefined && referenceId !== undefined && voice !== referenceId)
    throw unsupported(field, { notWith: 'voice' });
  const id = referenceId ?? voice;
  return {
    voice_setting: {
      ...(id !== undefined && { voice_id: id }),
      ...(speed !== undefined && { speed }),
      ...(volume !== undefined && { vol: volume }),
    },
  };
}

/** Bare samples are not asked for: a file must say what it is. */
function audioSetting(_value: unknown, _field: string, { format, sampleRate, bitrate }: Request): WireFields {
  if (format !== undefined && format !== 'mp3' && format !== 'flac')
    throw unsupported('response_format', { oneOf: ['mp3', 'flac'] });
  return {
    audio_setting: {
      ...(format !== undefined && { format }),
      ...(sampleRate !== undefined && { sample_rate: String(sampleRate) }),
      ...(bitrate !== undefined && { bitrate: String(kilobits(bitrate) * 1000) }),
    },
  };
}
