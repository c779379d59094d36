import { useText } from '../text.tsx';
import { agoText, creditsText, dateText } from './format.ts';

/** An amount of credits. What is not known is a dash, never a zero. */
export function Credits({ value }: { readonly value: number | null | undefined }) {
  const { language } = useText();
  return <span className="num">{value === null || value === undefined ? '–' : creditsText(value, language)}</span>;
}

/** A moment: how long ago for reading, the exact time in both zones on pointing at it. */
export function Time({ at, exact = false }: { readonly at: number | null | undefined; readonly exact?: boolean }) {
  const { language } = useText();
  if (at === null || at === undefined) return <span className="soft">–</span>;
  const iso = new Date(at * 1000).toISOString();
  return (
    <time
      dateTime={iso}
      title={`${dateText(at, language)} · ${iso.replace('T', ' ').slice(0, 19)} UTC`}
      className="num"
    >
      {exact ? dateText(at, language) : agoText(at, language)}
    </time>
  );
}
