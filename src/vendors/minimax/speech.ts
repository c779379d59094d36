import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { countAt, defined, isObject, objectAt, requiredString } from '../kit/json.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseLength, refuseOutside } from '../kit/refusals.ts';
import { piecesOf } from '../kit/sound.ts';
import type { WireValue } from '../kit/wire.ts';
import type { Media, Speech, SpeechWork } from '../vendor.ts';
import { languageName } from './languages.ts';
import { readSound } from './sound-answer.ts';
import { SPEECH_FORMATS, soundSetting } from './sound-setting.ts';

type Request = SoundRequest<Media>;

const TEXT_CHARS_MAX = 10_000;
const CHANNELS = 1;
/** Named after the route, which has no field for a model. */
const DESIGN_MODEL = /^voice[-_]design/;

/** They would bring the sound in another form, or to another place. */
const RESERVED = ['stream', 'output_format', 'audio_setting', 'callback_url'];

/** Speech and the design of voices: the model says which. Voices are not cloned: that takes a file of the vendor's own. */
export const speech: SpeechWork = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    if (DESIGN_MODEL.test(model)) return checkDesign(request);
    speechFields(request);
  },

  async speak(request, upstream): Promise<Speech> {
    const { fields, samplesRate } = speechFields(request);
    const json = { ...request.extra, ...fields, model: upstream.model, stream: false, output_format: 'hex' };
    const answer = await readSound(upstream, { path: '/v1/t2a_v2', body: { json } }, 'audio');
    const characters = countAt(objectAt(answer.json, 'extra_info'), 'usage_characters');
    return {
      pieces: piecesOf(answer.data),
      ...(samplesRate !== undefined && { samples: { rate: samplesRate, channels: CHANNELS } }),
      ...(characters !== undefined && { characters }),
    };
  },

  async design(request, upstream) {
    const { voiceDescription, input, extra } = request;
    const json = { ...extra, prompt: voiceDescription, preview_text: input };
    const answer = await readSound(upstream, { path: '/v1/voice_design', body: { json } }, 'trial_audio');
    const voiceId = requiredString(answer.json, 'voice_id');
    return [{ voiceId, name: undefined, description: voiceDescription, audio: answer.data }];
  },
};

interface SpeechFields {
  readonly fields: Record<string, WireValue>;
  /** Of bare samples. */
  readonly samplesRate: number | undefined;
}

/** Throws ApiError for what the models cannot take. */
function speechFields(request: Request): SpeechFields {
  refuseFields(request, SPEECH_KEYS, SOUND_NAMES);
  const { input: text, speed, volume, language, extra } = request;
  if (text === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  refuseLength('input', text, 1, TEXT_CHARS_MAX);
  refuseOutside('speed', speed, 0.5, 2);
  refuseOutside('volume', volume, 0, 10);
  if (volume === 0) throw unsupported('volume', 'another value');
  const language_boost = language === undefined ? undefined : languageName(language);
  if (language !== undefined && language_boost === undefined) throw unsupported('language', 'another value');
  const { audio_setting, samplesRate } = soundSetting(request, SPEECH_FORMATS);
  const fields = {
    text,
    // A mood or a pitch of the caller's own goes on beside what public fields say.
    voice_setting: {
      ...(isObject(extra.voice_setting) && extra.voice_setting),
      ...defined({ voice_id: voiceOf(request), speed, vol: volume }),
    },
    audio_setting: { ...audio_setting, channel: CHANNELS },
    ...(language_boost !== undefined && { language_boost }),
  };
  return { fields, samplesRate };
}

const SPEECH_KEYS: readonly (keyof Request)[] = [
  ...(['input', 'voice', 'referenceId', 'language', 'speed', 'volume'] as const),
  ...(['format', 'sampleRate', 'bitrate'] as const),
];

/** A voice is an id here, wherever the caller wrote it; a mixture of voices is a field of the vendor's own. */
function voiceOf({ voice, referenceId = voice, extra }: Request): string | undefined {
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  if (referenceId === undefined && extra.timbre_weights === undefined) throw unsupported('voice', { atLeast: 1 });
  return referenceId;
}

const PREVIEW_CHARS_MAX = 500;

function checkDesign(request: Request): void {
  refuseFields(request, ['voiceDescription', 'input'], SOUND_NAMES);
  const { voiceDescription, input = '' } = request;
  if (voiceDescription === undefined) throw unsupported('voice_description', { atLeast: 1, unit: 'character' });
  // The vendor writes no text by itself.
  refuseLength('input', input, 1, PREVIEW_CHARS_MAX);
}
