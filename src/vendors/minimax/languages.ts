import { languageCode } from '../kit/languages.ts';

/** By ISO code, as the vendor writes them. */
const NAMES: ReadonlyMap<string, string> = new Map(
  `zh Chinese,yue Chinese|Yue,en English,ar Arabic,ru Russian,es Spanish,fr French,pt Portuguese,de German,tr Turkish,
nl Dutch,uk Ukrainian,vi Vietnamese,id Indonesian,ja Japanese,it Italian,ko Korean,th Thai,pl Polish,ro Romanian,el Greek,
cs Czech,fi Finnish,hi Hindi,bg Bulgarian,da Danish,he Hebrew,ms Malay,fa Persian,sk Slovak,sv Swedish,hr Croatian,
tl Filipino,hu Hungarian,no Norwegian,sl Slovenian,ca Catalan,nn Nynorsk,ta Tamil,af Afrikaans`
    .split(/,\s*/)
    .map((entry) => [entry.slice(0, entry.indexOf(' ')), entry.slice(entry.indexOf(' ') + 1).replace('|', ',')]),
);

/** Undefined for a language that the vendor does not list. */
export function languageName(written: string): string | undefined {
  return written === 'auto' ? 'auto' : NAMES.get(languageCode(written) ?? '');
}
