import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { defined, isObject } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseOutside } from '../kit/refusals.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { formatFor } from './formats.ts';
import { wire } from './wire.ts';

type Request = SoundRequest<Media>;

const FIELDS = [
  ...(['input', 'voice', 'referenceId', 'language', 'format', 'sampleRate', 'bitrate', 'speed', 'volume'] as const),
];
/** They take neither speed nor volume, and would say nothing of it. */
const MODELS_WITHOUT_SETTINGS = /^sonic(-english|-multilingual|-preview|-turbo|-2)?(-\d{4}-\d{2}-\d{2})?$/;

/** Sound that comes while it is made. */
export const speech: SpeechWork = {
  check: (request, upstreamModel) => void bodyOf(request, upstreamModel),

  async speak(request, upstream) {
    const json = bodyOf(request, upstream.model);
    const pieces = await wire.sound(upstream, { path: '/tts/bytes', accept: '*/*', body: { json } });
    if (request.format !== 'pcm') return { pieces };
    return { pieces, samples: { rate: formatFor(request).rate, channels: 1 } };
  },
};

/** Throws ApiError for what the model cannot take. */
function bodyOf(request: Request, model: string): JsonObject {
  refuseFields(request, FIELDS, SOUND_NAMES);
  // The public fields decide the format; a sound that is saved stays with the vendor.
  refuseKeys(request.extra, ['output_format', 'save']);
  const { input: transcript, extra } = request;
  if (!transcript) throw unsupported('input', { atLeast: 1, unit: 'character' });
  if (request.language !== undefined && extra.locale) throw unsupported('locale', { notWith: 'language' });
  return {
    ...extra,
    model_id: model,
    transcript,
    voice: { id: voiceOf(request) },
    output_format: formatFor(request).fields,
    ...defined({ language: languageOf(request) }),
    ...settingsOf(request, model),
  };
}

/** A voice is an id here, wherever the caller wrote it. There is none by default. */
function voiceOf({ voice, referenceId = voice }: Request): string {
  if (!referenceId) throw unsupported('voice', { atLeast: 1 });
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  return referenceId;
}

/** A locale such as `en-GB` goes as it is, a name of a language as its code. */
function languageOf({ language }: Request): string | undefined {
  if (language === undefined || /^[a-z]{2}-[A-Z]{2}$/.test(language)) return language;
  const code = languageCode(language);
  if (code === undefined) throw unsupported('language', 'another value');
  return code;
}

/** Settings of the caller's own stay as they were sent. */
function settingsOf({ speed, volume, extra }: Request, model: string): JsonObject {
  if (MODELS_WITHOUT_SETTINGS.test(model)) {
    if (speed !== undefined) throw unsupported('speed');
    if (volume !== undefined) throw unsupported('volume');
  }
  refuseOutside('speed', speed, 0.6, 1.5);
  refuseOutside('volume', volume, 0.5, 2);
  if (speed === undefined && volume === undefined) return {};
  const own = isObject(extra.generation_config) ? extra.generation_config : {};
  return { generation_config: { ...own, ...defined({ speed, volume }) } };
}
