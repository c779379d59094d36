import type { SoundRequest } from '../../requests/index.ts';

type Field = keyof SoundRequest<unknown>;

/**
 * What callers call the fields of a sound, in the order in which they are told that one is not taken. `output` and `n` are
 * not here: they change nothing of what is made.
 */
export const SOUND_NAMES: readonly (readonly [Field, string])[] = [
  ['prompt', 'prompt'],
  ['input', 'input'],
  ['lyrics', 'lyrics'],
  ['voice', 'voice'],
  ['referenceId', 'reference_id'],
  ['voiceDescription', 'voice_description'],
  ['language', 'language'],
  ['format', 'response_format'],
  ['sampleRate', 'sample_rate'],
  ['bitrate', 'bitrate'],
  ['speed', 'speed'],
  ['volume', 'volume'],
  ['loudness', 'loudness'],
  ['guidanceScale', 'guidance_scale'],
  ['promptInfluence', 'prompt_influence'],
  ['durationSeconds', 'duration_seconds'],
  ['seed', 'seed'],
  ['instrumental', 'instrumental'],
  ['loop', 'loop'],
  ['autoGenerateText', 'auto_generate_text'],
  ['referenceAudio', 'reference_audio'],
];

const NAMES = new Map(SOUND_NAMES);

export function soundName(field: Field): string {
  return NAMES.get(field) ?? field;
}
