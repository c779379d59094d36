import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { languageCode } from '../kit/languages.ts';
import type { Media } from '../vendor.ts';

/** A voice is a model of its own: `family-name-language`. */
interface Voice {
  readonly family: string;
  readonly name: string;
  readonly language: string;
}

const DEFAULT_LANGUAGE = 'en';

/**
 * The voice that is asked for, by its exact name or by the part of it that differs. It is of the family of the route's
 * model, since families differ in price. A route to a voice has it where no other is asked for.
 */
export function voiceOf(
  request: Pick<SoundRequest<Media>, 'voice' | 'referenceId' | 'language'>,
  model: string,
): string {
  const { voice, referenceId = voice } = request;
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  const routeVoice = parseVoice(model);
  const language = request.language === undefined ? undefined : (languageCode(request.language) ?? request.language);
  const exact = referenceId === undefined ? routeVoice : parseVoice(referenceId);
  if (exact !== undefined) {
    if (exact.family !== (routeVoice?.family ?? model)) throw unsupported(fieldOf(request), 'another value');
    if ((language ?? exact.language) !== exact.language) throw unsupported('language', { oneOf: [exact.language] });
    return [exact.family, exact.name, exact.language].join('-');
  }
  if (referenceId === undefined) throw unsupported('voice', { atLeast: 1 });
  if (!/^[a-z]+$/.test(referenceId)) throw unsupported(fieldOf(request), 'another value');
  return [routeVoice?.family ?? model, referenceId, language ?? routeVoice?.language ?? DEFAULT_LANGUAGE].join('-');
}

/** Undefined for a family alone, such as `aura-2`. */
export function parseVoice(name: string): Voice | undefined {
  const [, family, person, language] = /^(.+)-([a-z]+)-([a-z]{2})$/.exec(name) ?? [];
  if (family === undefined || person === undefined || language === undefined) return undefined;
  return { family, name: person, language };
}

function fieldOf({ voice }: Pick<SoundRequest<Media>, 'voice'>): string {
  return voice === undefined ? 'reference_id' : 'voice';
}
