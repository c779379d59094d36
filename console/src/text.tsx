import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import english from '../text/en.json';

/** Every text of the console, by language. A key is a path into the file, as in `keys.title`. */

type Texts = typeof english;
type PathOf<Tree> = {
  [Key in keyof Tree & string]: Tree[Key] extends string ? Key : `${Key}.${PathOf<Tree[Key]>}`;
}[keyof Tree & string];

export type TextKey = PathOf<Texts>;
type Values = Readonly<Record<string, string | number>>;
export type Say = (key: TextKey, values?: Values) => string;

export const LANGUAGES = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;

const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => english,
  zh: async () => (await import('../text/zh.json')).default,
};
const STORED = 'tollgate-language';

interface Speech {
  readonly say: Say;
  readonly language: Language;
  readonly choose: (language: Language) => void;
}

const SpeechContext = createContext<Speech | undefined>(undefined);

export function TextProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(preferredLanguage);
  const [texts, setTexts] = useState<{ readonly language: Language; readonly texts: Texts } | undefined>(
    language === 'en' ? { language, texts: english } : undefined,
  );
  useEffect(() => {
    let isWanted = true;
    void LOADERS[language]().then((loaded) => {
      if (isWanted) setTexts({ language, texts: loaded });
    });
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en';
    return () => {
      isWanted = false;
    };
  }, [language]);
  const choose = useCallback((chosen: Language) => {
    localStorage.setItem(STORED, chosen);
    setLanguage(chosen);
  }, []);
  const speech = useMemo(
    () => texts && { say: sayerOf(texts.texts), language: texts.language, choose },
    [texts, choose],
  );
  // Nothing is shown in the wrong language while the right one is on its way.
  return speech && <SpeechContext value={speech}>{children}</SpeechContext>;
}

export function useText(): Speech {
  const speech = use(SpeechContext);
  if (speech === undefined) throw new Error('there is no TextProvider');
  return speech;
}

export function useSay(): Say {
  return useText().say;
}

function preferredLanguage(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

function sayerOf(texts: Texts): Say {
  return (key, values = {}) => {
    const found = key.split('.').reduce<unknown>((tree, name) => (tree as Record<string, unknown>)[name], texts);
    return String(found).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  };
}
