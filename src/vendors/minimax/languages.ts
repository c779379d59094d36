import { languageCode, languageNames } from '../kit/languages.ts';

/** As the vendor writes them. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...languageNames(`zh en ar ru es fr pt de tr nl uk vi id ja it ko th pl ro el cs fi hi bg da he ms fa sk sv hr hu no sl ca
ta af`),
    yue: 'Chinese,Yue',
    tl: 'Filipino',
    nn: 'Nynorsk',
  }),
);

/** Undefined for a language that the vendor does not list. */
export function languageName(written: string): string | undefined {
  return written === 'auto' ? 'auto' : NAMES.get(languageCode(written) ?? '');
}
