import { UpstreamError } from '../../errors.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { onlyFormat, voiced } from '../kit/field-maps.ts';
import {
  as,
  between,
  type FieldMap,
  firstMatch,
  mapFields,
  oneOf,
  oneOfNumbers,
  single,
  type WireFields,
} from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { stateIn } from '../kit/queue.ts';
import { refuse, refuseKeys, refuseLength } from '../kit/refusals.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { callFor, type Family } from './predictions.ts';
import { failureOf, resultOf, STATES } from './results.ts';
import { faultOfRun, wire } from './wire.ts';

type Request = SoundRequest<Media>;
type Fields = FieldMap<Request>;

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });
const LANGUAGES =
  'zh yue en ar ru es fr pt de tr nl uk vi id ja it ko th pl ro el cs fi hi bg da he ms fa sk sv hr fil hu no sl ca ta af';

const MINIMAX: Fields = {
  input: (text, field) => {
    refuseLength(field, text, 1, 10_000);
    return { text };
  },
  ...voiced('voice_id'),
  format: oneOf('audio_format', ['mp3', 'wav', 'flac', 'pcm']),
  speed: between('speed', 0.5, 2),
  volume: between('volume', 0, 10),
  sampleRate: oneOfNumbers('sample_rate', [8000, 16_000, 22_050, 24_000, 32_000, 44_100]),
  bitrate: (bitrate, field) =>
    oneOfNumbers('bitrate', [32_000, 64_000, 128_000, 256_000])(kilobits(bitrate) * 1000, field),
  language: (language, field) => {
    const known = LANGUAGES.split(' ');
    refuse(field, !known.includes(language), { oneOf: known });
    return { language_boost: language === 'yue' ? 'Chinese,Yue' : (NAMES.of(language) ?? language) };
  },
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family<Request>])[] = [
  [/\/speech-(02|2)/, { takes: MINIMAX }],
  [
    /^elevenlabs\//,
    {
      takes: {
        input: as('prompt'),
        ...voiced('voice'),
        ...onlyFormat('mp3'),
        speed: between('speed', 0.7, 1.2),
        language: as('language_code'),
      },
    },
  ],
  [
    /\/chatterbox/,
    { takes: { input: as('prompt'), ...onlyFormat('wav'), seed: as('seed'), referenceAudio: single('audio_prompt') } },
  ],
];

/** Of a model that is not known, all is asked for under the names that the vendor's models mostly have. */
const USUAL: Family<Request> = {
  takes: { input: as('text'), ...voiced('voice'), speed: as('speed'), seed: as('seed'), language: as('language') },
};

/** How long the vendor holds a connection at most, in seconds. */
const WAIT_MAX = 60;

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
    const call = await callFor(input, upstream, headers);
    const answer = await wire.json(upstream, { ...call, accepts: [200, 201, 202] });
    if (stateIn<'running' | 'over'>(answer, STATES) === 'running') {
      throw new UpstreamError('timeout', `no speech within ${seconds} seconds`);
    }
    const failure = failureOf(answer);
    if (failure !== undefined) throw new UpstreamError(faultOf(answer.error), failure.detail, { isUncertain: false });
    const result = resultOf(answer, 'audio', upstream);
    const [file] = result.state === 'succeeded' ? result.outputs : [];
    if (file === undefined) throw new UpstreamError('garbled', 'an answer without sound');
    if ('url' in file) return { url: file.url, pieces: piecesOf() };
    return { pieces: 'data' in file ? piecesOf(file.data) : await wire.download(upstream, file.path) };
  },
};

/** The vendor takes no earlier deadline, in seconds; unverified. */
const CANCEL_MIN = 5;

function faultOf(error: unknown) {
  return faultOfRun(typeof error === 'string' ? error : '');
}

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): WireFields {
  if (request.input === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  return mapFields(request, firstMatch(FAMILIES, model) ?? USUAL, SOUND_NAMES);
}

async function* piecesOf(...data: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* data;
}
