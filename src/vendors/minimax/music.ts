import { UpstreamError } from '../../errors.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { jsonWithMedia, withoutAddress } from '../kit/inline-media.ts';
import { amountAt, objectAt } from '../kit/json.ts';
import { as, type FieldMap, firstMatch, type ModelFamily, mapFields, single, type WireFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseLength } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { readSound } from './sound-answer.ts';
import { SONG_FORMATS, soundSetting } from './sound-setting.ts';

type Request = SoundRequest<Media>;

interface SongFamily extends ModelFamily<Request> {
  /** It sings what is written, and writes nothing by itself. */
  readonly needsLyrics?: boolean;
  /** It sings a song that exists anew. */
  readonly needsSong?: boolean;
}

const PROMPT_CHARS_MAX = 2000;
const LYRICS_CHARS_MAX = 3500;

const songFields: FieldMap<Request> = {
  prompt: as('prompt'),
  // A text without a prompt is the prompt.
  input: (text, field, { prompt }) => {
    if (prompt !== undefined) throw unsupported(field, { notWith: 'prompt' });
    return { prompt: text };
  },
  lyrics: as('lyrics'),
  format: () => ({}),
  sampleRate: () => ({}),
  bitrate: () => ({}),
};
const USUAL: SongFamily = {
  takes: { ...songFields, instrumental: as('is_instrumental'), autoGenerateText: as('lyrics_optimizer') },
};
/** The first that fits the name counts. Unverified: which models know the two flags. */
const FAMILIES: readonly (readonly [RegExp, SongFamily])[] = [
  [/^music-cover/, { takes: { ...songFields, referenceAudio: song }, needsSong: true }],
  [/^music-(1|2\.0)/, { takes: songFields, needsLyrics: true }],
];

/** What public fields decide, and what would bring the sound in another form. */
const RESERVED = [
  ...['stream', 'output_format', 'audio_setting', 'audio_url', 'audio_base64', 'callback_url'],
  ...['is_instrumental', 'lyrics_optimizer'],
];

/** One long call without a task: nothing can be asked after or found again. */
export const music: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, model);
  },

  perCall: () => 1,

  async submit(request, _order, upstream) {
    const fields = { ...request.extra, ...fieldsOf(request, upstream.model), model: upstream.model };
    const body = jsonWithMedia({ ...fields, stream: false, output_format: 'hex' }, 'base64');
    const { json, data } = await readSound(upstream, { path: '/v1/music_generation', body }, 'audio');
    if (objectAt(json, 'data')?.status === PARTIAL) throw new UpstreamError('garbled', 'a part of a song');
    const ms = amountAt(objectAt(json, 'extra_info'), 'music_duration');
    return { state: 'succeeded', outputs: [{ data }], usage: { seconds: ms === undefined ? undefined : ms / 1000 } };
  },
};

const PARTIAL = 1;

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): WireFields {
  const family = firstMatch(FAMILIES, model) ?? USUAL;
  const fields = mapFields(request, family, SOUND_NAMES);
  const { prompt, input, lyrics, referenceAudio } = request;
  refuseLength(prompt === undefined ? 'input' : 'prompt', prompt ?? input ?? '', 0, PROMPT_CHARS_MAX);
  if (lyrics !== undefined) refuseLength('lyrics', lyrics, 1, LYRICS_CHARS_MAX);
  if (family.needsLyrics === true && lyrics === undefined) throw noLyrics();
  if (family.needsSong === true && referenceAudio.length === 0) throw unsupported('reference_audio', { atLeast: 1 });
  const { audio_setting } = soundSetting(request, SONG_FORMATS);
  return { ...(family === USUAL && vocalFlags(request)), ...fields, audio_setting };
}

/** Without lyrics a song is still sung: both flags are sent, so that the vendor knows what is wanted of it. */
function vocalFlags({ lyrics, instrumental = false, autoGenerateText }: Request): WireFields {
  if (instrumental && lyrics !== undefined) throw unsupported('instrumental', { notWith: 'lyrics' });
  const isWritten = lyrics === undefined && !instrumental;
  if (isWritten && autoGenerateText === false) throw noLyrics();
  return { is_instrumental: instrumental, lyrics_optimizer: isWritten };
}

function noLyrics(): Error {
  return unsupported('lyrics', { atLeast: 1, unit: 'character' });
}

/** Bytes and addresses have fields of their own, of which the first is enough. */
function song(media: readonly Media[], field: string): WireFields {
  return single('audio_base64')(media.map(withoutAddress), field);
}
