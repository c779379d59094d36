import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { defined } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuse, refuseKeys, refuseLength } from '../kit/refusals.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { wire } from './wire.ts';

type Request = SoundRequest<Media>;

const TEXT_CHARS_MAX = 15_000;
const CODECS = ['mp3', 'wav', 'pcm'] as const;
const RATES = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];
const BITRATES = [32_000, 64_000, 96_000, 128_000, 192_000];
const OWN_VOICE = 'eve';
const OWN_RATE = 24_000;
const SPEECH_KEYS: readonly (keyof Request)[] = [
  ...(['input', 'voice', 'referenceId', 'language', 'speed', 'format', 'sampleRate', 'bitrate'] as const),
];

/** Sound as it is made. The route has no field for a model. */
export const speech: SpeechWork = {
  check: (request) => void fieldsOf(request),

  async speak(request, upstream) {
    const fields = fieldsOf(request);
    const json = { ...request.extra, ...fields };
    const pieces = await wire.sound(upstream, { path: '/tts', accept: '*/*', body: { json } });
    const { codec, sample_rate: rate } = fields.output_format;
    return codec === 'pcm' ? { pieces, samples: { rate, channels: 1 } } : { pieces };
  },
};

/** What the vendor would choose by itself is sent all the same. Throws ApiError for what it cannot take. */
function fieldsOf(request: Request) {
  refuseFields(request, SPEECH_KEYS, SOUND_NAMES);
  // Another form of the sound, or another voice than the public field says.
  refuseKeys(request.extra, ['with_timestamps', 'output_format', 'stream', 'voice_id']);
  const { input: text = '', speed } = request;
  refuseLength('input', text, 1, TEXT_CHARS_MAX);
  return {
    text,
    voice_id: voiceOf(request),
    language: languageOf(request),
    output_format: formatOf(request),
    ...defined({ speed }),
  };
}

function voiceOf({ voice, referenceId = voice }: Request): string {
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  return referenceId ?? OWN_VOICE;
}

/** Region and script count here, where they are written. */
function languageOf({ language = 'auto' }: Request): string {
  if (language === 'auto') return language;
  const code = languageCode(language);
  if (code === undefined) throw unsupported('language', 'another value');
  return /^[a-z]{2,3}(-|$)/i.test(language) ? language : code;
}

function formatOf({ format = 'mp3', sampleRate = OWN_RATE, bitrate }: Request) {
  const codec = CODECS.find((known) => known === format);
  if (codec === undefined) throw unsupported('response_format', { oneOf: CODECS });
  refuse('sample_rate', !RATES.includes(sampleRate), { oneOf: RATES });
  const bits = bitrate === undefined ? undefined : kilobits(bitrate) * 1000;
  refuse('bitrate', bits !== undefined && codec !== 'mp3', 'none');
  refuse('bitrate', bits !== undefined && !BITRATES.includes(bits), { oneOf: BITRATES });
  return { codec, sample_rate: sampleRate, ...(bits !== undefined && { bit_rate: bits }) };
}
