/** By ISO code, as upstreams write them in words. */
const NAMES = `af afrikaans,am amharic,ar arabic,as assamese,az azerbaijani,ba bashkir,be belarusian,bg bulgarian,
bn bengali,bn bangla,bo tibetan,br breton,bs bosnian,ca catalan,ca valencian,cs czech,cy welsh,da danish,de german,
el greek,en english,es spanish,es castilian,et estonian,eu basque,fa persian,fa farsi,fi finnish,fo faroese,fr french,
ga irish,gl galician,gu gujarati,ha hausa,haw hawaiian,he hebrew,hi hindi,hr croatian,ht haitian creole,ht haitian,
hu hungarian,hy armenian,id indonesian,is icelandic,it italian,ja japanese,jv javanese,ka georgian,kk kazakh,km khmer,
kn kannada,ko korean,ky kyrgyz,la latin,lb luxembourgish,lb letzeburgesch,ln lingala,lo lao,lt lithuanian,lv latvian,
mg malagasy,mi maori,mk macedonian,ml malayalam,mn mongolian,mr marathi,ms malay,mt maltese,my myanmar,my burmese,
ne nepali,nl dutch,nl flemish,nn nynorsk,no norwegian,oc occitan,pa punjabi,pa panjabi,pl polish,ps pashto,ps pushto,
pt portuguese,ro romanian,ro moldavian,ro moldovan,ru russian,sa sanskrit,sd sindhi,si sinhala,si sinhalese,sk slovak,
sl slovenian,sn shona,so somali,sq albanian,sr serbian,su sundanese,sv swedish,sw swahili,ta tamil,te telugu,tg tajik,
th thai,tk turkmen,tl tagalog,tr turkish,tt tatar,ug uyghur,uk ukrainian,ur urdu,uz uzbek,vi vietnamese,yi yiddish,
yo yoruba,yue cantonese,zh chinese,zh mandarin,zu zulu`;

const CODES: ReadonlyMap<string, string> = new Map(
  NAMES.split(/,\s*/).map((entry) => [entry.slice(entry.indexOf(' ') + 1), entry.slice(0, entry.indexOf(' '))]),
);

/** The ISO code of a language, however an upstream writes it: `english`, `EN`, `en-US`, `eng`. Undefined if it is none. */
export function languageCode(written: string): string | undefined {
  const name = written.trim().toLowerCase();
  const [, code] = /^([a-z]{2,3})(?:[-_][a-z0-9]+)*$/.exec(name) ?? [];
  return CODES.get(name) ?? (code && shortCode(code));
}

/** Two letters where there are two. `jw` is an old code that several upstreams still write. */
function shortCode(code: string): string | undefined {
  if (code === 'jw') return 'jv';
  if (code.length === 2) return code;
  const { language } = new Intl.Locale(code);
  return language === 'und' ? undefined : language;
}

const ENGLISH = new Intl.DisplayNames(['en'], { type: 'language' });

/** The English name of each language, by its code: so some upstreams are told a language. */
export function languageNames(codes: string): Readonly<Record<string, string>> {
  return Object.fromEntries(codes.split(/\s+/).map((code) => [code, ENGLISH.of(code) ?? code]));
}
