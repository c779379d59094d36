import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import {
  as,
  between,
  type FieldMap,
  implied,
  mapFields,
  oneOf,
  oneOfNumbers,
  type WireFields,
  type WireMedia,
} from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { promptOf, seedOf, uriOf } from './inputs.ts';
import { type Creation, taskWork } from './tasks.ts';

type Request = SoundRequest<Media>;

const SPEECH = '/v1/text_to_speech';
const EFFECT = '/v1/sound_effect';
const REFERENCES_MAX = 3;
const SPOKEN_CHARS_MAX = 1000;

const none = (): WireFields => ({});
/** Of models that make but one format, which is not asked for. */
const mp3: FieldMap<Request> = { format: implied('mp3') };

const effects: FieldMap<Request> = {
  ...mp3,
  prompt: none,
  input: none,
  durationSeconds: between('duration', 0.5, 30),
  loop: as('loop'),
};

/** A preset of the vendor's, by its name. */
const spoken: FieldMap<Request> = { ...mp3, input: none, voice: none, referenceId: none };
const spokenV3: FieldMap<Request> = {
  ...spoken,
  language: as('languageCode'),
  speed: between('speed', 0.7, 1.2),
  seed: seedOf,
};

const FORMATS: Readonly<Record<string, string>> = { mp3: 'mp3', wav: 'wav', opus: 'ogg_opus', ogg: 'ogg_opus' };
/** Words to say, or a scene to be heard. */
const seedAudio: FieldMap<Request> = {
  prompt: none,
  input: none,
  referenceAudio: none,
  format: (format, field) =>
    oneOf('outputFormat', Object.values(FORMATS))(FORMATS[format] ?? refuseFormat(field), field),
  sampleRate: oneOfNumbers('sampleRate', [8_000, 16_000, 24_000, 32_000, 44_100, 48_000]),
};

/**
 * Sound effects and speech. Both are tasks here, so speech is a job as well: what the caller waits for cannot be asked
 * after again and again.
 */
export const music = taskWork<Request>({
  reserved: ['promptText', 'duration', 'voice', 'referenceAudios', 'outputFormat', 'sampleRate'],

  creationOf(request, model) {
    if (/^seed_audio/.test(model)) return seedCreation(request);
    if (/^eleven_(?!text_to_sound)/.test(model)) return speechCreation(request, model);
    const fields = mapFields(request, { takes: effects }, SOUND_NAMES);
    return { path: EFFECT, fields: { ...fields, ...describedBy(request) } };
  },
});

function speechCreation(request: Request, model: string): Creation {
  const isV3 = model.startsWith('eleven_v3');
  const fields = mapFields(request, { takes: isV3 ? spokenV3 : spoken }, SOUND_NAMES);
  const { input, voice, referenceId = voice } = request;
  if (input === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  if (!isV3 && input.length > SPOKEN_CHARS_MAX) {
    throw unsupported('input', { atMost: SPOKEN_CHARS_MAX, unit: 'characters' });
  }
  if (referenceId === undefined) throw unsupported('voice', { atLeast: 1 });
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  const preset = { type: 'runway-preset', presetId: referenceId };
  return { path: SPEECH, fields: { ...fields, promptText: input, voice: preset } };
}

function seedCreation(request: Request): Creation {
  const fields = mapFields(request, { takes: seedAudio }, SOUND_NAMES);
  const { input, referenceAudio } = request;
  const path = input === undefined ? EFFECT : SPEECH;
  return { path, fields: { ...fields, ...describedBy(request), ...examplesFor(path, referenceAudio) } };
}

/** A voice to speak with is one; a scene has up to three sounds to go by. */
function examplesFor(path: string, audio: readonly Media[]): Record<string, WireMedia> {
  const most = path === SPEECH ? 1 : REFERENCES_MAX;
  if (audio.length > most) throw unsupported('reference_audio', { atMost: most });
  const uris = audio.map((each) => uriOf(each, 'reference_audio'));
  const [first] = uris;
  if (first === undefined) return {};
  return path === SPEECH ? { voice: { type: 'reference-audio', audioUri: first } } : { referenceAudios: uris };
}

/** A text without a prompt is the prompt. */
function describedBy({ prompt, input }: Request): { readonly promptText?: string } {
  if (prompt !== undefined && input !== undefined) throw unsupported('input', { notWith: 'prompt' });
  const text = prompt ?? input;
  if (text === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  return promptOf({ prompt: text });
}

function refuseFormat(field: string): never {
  throw unsupported(field, { oneOf: Object.keys(FORMATS) });
}
