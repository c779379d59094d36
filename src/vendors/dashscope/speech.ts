import { UpstreamError } from '../../errors.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { voiced } from '../kit/field-maps.ts';
import { countAt, objectAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { type FieldMap, implied, mapFields, textWithin, type WireFields, wordFor } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { piecesOf } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { callFor } from './tasks.ts';
import { GENERATION, wire } from './wire.ts';

type Request = SoundRequest<Media>;

const TEXT_CHARS_MAX = 600;
const SAMPLE_RATE = 24_000;
const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ zh: 'Chinese', en: 'English', de: 'German', it: 'Italian', pt: 'Portuguese', es: 'Spanish' },
  ...{ ja: 'Japanese', ko: 'Korean', fr: 'French', ru: 'Russian' },
};

const TAKES: FieldMap<Request> = {
  input: textWithin('text', 1, TEXT_CHARS_MAX),
  ...voiced('voice'),
  format: implied('wav'),
  sampleRate: implied(SAMPLE_RATE),
  language: (language, field) => wordFor('language_type', LANGUAGES)(languageCode(language) ?? '', field),
};

/** What is not modelled and not among these goes into the other half. */
const INPUTS = ['text', 'voice', 'language_type', 'instructions', 'optimize_instructions'];

/** Speech while the caller waits. The sound lies at a link that lives for a day and is fetched without the key. */
export const speech: SpeechWork = {
  check(request) {
    refuseKeys(request.extra, ['input', 'parameters', 'messages', 'stream']);
    fieldsOf(request);
  },

  async speak(request, upstream) {
    const fields = { ...request.extra, ...fieldsOf(request) };
    const answer = await wire.json(upstream, callFor(GENERATION, upstream.model, fields, INPUTS));
    const audio = objectAt(objectAt(answer, 'output'), 'audio');
    const [url, data] = [stringAt(audio, 'url') ?? '', stringAt(audio, 'data') ?? ''];
    if (url === '' && data === '') throw new UpstreamError('garbled', 'an answer without sound');
    const characters = countAt(objectAt(answer, 'usage'), 'characters');
    return {
      pieces: url === '' ? piecesOf(Buffer.from(data, 'base64')) : piecesOf(),
      ...(url !== '' && { url }),
      ...(characters !== undefined && { characters }),
    };
  },
};

/** Throws ApiError for what the models cannot take. */
function fieldsOf(request: Request): WireFields {
  const { input, voice, referenceId } = request;
  if (input === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  if (voice === undefined && referenceId === undefined) throw unsupported('voice', { atLeast: 1 });
  return mapFields(request, { takes: TAKES }, SOUND_NAMES);
}
