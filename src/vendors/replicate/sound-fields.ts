import { languageCode } from '../kit/languages.ts';
import type { WireFields } from '../kit/mapping.ts';
import { kilobits } from '../kit/sound.ts';

export function bitsPerSecond(bitrate: number): WireFields {
  return { bitrate: kilobits(bitrate) * 1000 };
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** The English name of a language, as several models want it; undefined for what is no code. */
export function languageName(code: string): string | undefined {
  const short = languageCode(code);
  const name = short === undefined ? undefined : NAMES.of(short);
  return name === short ? undefined : name;
}
