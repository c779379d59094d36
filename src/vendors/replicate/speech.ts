import { UpstreamError } from '../../errors.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { bitrates, sampleRates, voiced } from '../kit/field-maps.ts';
import { stringAt } from '../kit/json.ts';
import { languageNames } from '../kit/languages.ts';
import {
  as,
  between,
  type FieldMap,
  firstMatch,
  implied,
  mapFields,
  oneOf,
  single,
  textWithin,
  type WireFields,
  wordFor,
} from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { stateIn } from '../kit/queue.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { piecesOf } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { callFor, type Families } from './predictions.ts';
import { failureOf, resultOf, STATES } from './results.ts';
import { faultOfRun, wire } from './wire.ts';

type Request = SoundRequest<Media>;
type Fields = FieldMap<Request>;

const LANGUAGES = {
  ...languageNames(
    'zh yue en ar ru es fr pt de tr nl uk vi id ja it ko th pl ro el cs fi hi bg da he ms fa sk sv hr fil hu no sl ca ta af',
  ),
  yue: 'Chinese,Yue',
};

const MINIMAX: Fields = {
  input: textWithin('text', 1, 10_000),
  ...voiced('voice_id'),
  format: oneOf('audio_format', ['mp3', 'wav', 'flac', 'pcm']),
  speed: between('speed', 0.5, 2),
  volume: between('volume', 0, 10),
  ...sampleRates(8000, 16_000, 22_050, 24_000, 32_000, 44_100),
  ...bitrates(32_000, 64_000, 128_000, 256_000),
  language: wordFor('language_boost', LANGUAGES),
};
const ELEVEN: Fields = {
  input: as('prompt'),
  ...voiced('voice'),
  format: implied('mp3'),
  speed: between('speed', 0.7, 1.2),
  language: as('language_code'),
};
const CHATTERBOX: Fields = {
  input: as('prompt'),
  format: implied('wav'),
  seed: as('seed'),
  referenceAudio: single('audio_prompt'),
};

const FAMILIES: Families<Request> = [
  [/\/speech-(02|2)/, { takes: MINIMAX }],
  [/^elevenlabs\//, { takes: ELEVEN }],
  [/\/chatterbox/, { takes: CHATTERBOX }],
];

/** Of a model that is not known, all is asked for under the names that the vendor's models mostly have. */
const ANY: Fields = {
  input: as('text'),
  ...voiced('voice'),
  speed: as('speed'),
  seed: as('seed'),
  language: as('language'),
};

/** How long the vendor holds a connection at most, in seconds. */
const WAIT_MAX = 60;
/** The vendor takes no earlier deadline, in seconds; unverified. */
const CANCEL_MIN = 5;

/** A prediction that is waited for on the line. One that is late is canceled by its own deadline and brings nothing. */
export const speech: SpeechWork = {
  check(request, upstreamModel) {
    refuseKeys(request.extra, ['num_outputs', 'audio_prompt', 'audio_format', 'output_format', 'subtitle_enable']);
    fieldsOf(request, upstreamModel);
  },

  async speak(request, upstream) {
    const seconds = Math.max(1, Math.min(WAIT_MAX, Math.floor(upstream.timeoutMs / 1000) - 1));
    const headers = { prefer: `wait=${seconds}`, 'cancel-after': `${Math.max(seconds, CANCEL_MIN)}s` };
    const input = { ...request.extra, ...fieldsOf(request, upstream.model) };
    const call = await callFor(input, upstream);
    const answer = await wire.json(upstream, { ...call, headers, accepts: [200, 201, 202] });
    if (stateIn<'running' | 'over'>(answer, STATES) === 'running') {
      throw new UpstreamError('timeout', `no speech within ${seconds} seconds`);
    }
    const failure = failureOf(answer);
    const fault = faultOfRun(stringAt(answer, 'error') ?? '');
    if (failure !== undefined) throw new UpstreamError(fault, failure.detail, { isUncertain: false });
    const result = resultOf(answer, 'audio', upstream);
    const [file] = result.state === 'succeeded' ? result.outputs : [];
    if (file === undefined) throw new UpstreamError('garbled', 'an answer without sound');
    if ('url' in file) return { url: file.url, pieces: piecesOf() };
    return { pieces: 'data' in file ? piecesOf(file.data) : await wire.download(upstream, file.path) };
  },
};

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): WireFields {
  if (request.input === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  return mapFields(request, firstMatch(FAMILIES, model) ?? { takes: ANY }, SOUND_NAMES);
}
