import type { Language } from '../text.tsx';
import { type Decimal, decimalText } from './decimal.ts';

const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' };

/** Credits exact to the micro-credit, never as `2e-7`. */
export function creditsText(credits: number, language: Language): string {
  return new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 6 }).format(credits);
}

export function countText(count: number, language: Language): string {
  return new Intl.NumberFormat(LOCALES[language]).format(count);
}

/** Every digit of an exact decimal. */
export function exactText(decimal: Decimal, language: Language): string {
  return new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 20 }).format(decimalText(decimal));
}

/** A day in UTC, as in "17 Nov". */
export function dayText(day: Date, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(day);
}

export function dateText(unixSeconds: number, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'medium', timeStyle: 'short' }).format(
    unixSeconds * 1000,
  );
}

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** "5 minutes ago" within the last day or the next, a date otherwise. */
export function agoText(unixSeconds: number, language: Language, nowMs = Date.now()): string {
  const seconds = unixSeconds - nowMs / 1000;
  if (Math.abs(seconds) >= 2 * 86_400) return dateText(unixSeconds, language);
  const words = new Intl.RelativeTimeFormat(LOCALES[language], { numeric: 'auto' });
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? (['second', 1] as const);
  return words.format(Math.round(seconds / size), unit);
}

export function durationText(ms: number, language: Language): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  return `${new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: seconds < 10 ? 1 : 0 }).format(seconds)} s`;
}

export function bytesText(bytes: number, language: Language): string {
  const [unit, size] = bytes >= 1 << 20 ? ['MiB', 1 << 20] : bytes >= 1 << 10 ? ['KiB', 1 << 10] : ['B', 1];
  return `${new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 1 }).format(bytes / Number(size))} ${unit}`;
}

const DAY_MS = 86_400_000;

/** The last second of a day in UTC, given as YYYY-MM-DD, in Unix seconds. */
export function endOfDay(day: string): number {
  return (Date.parse(`${day}T00:00:00Z`) + DAY_MS) / 1000 - 1;
}

/** The day in UTC as YYYY-MM-DD. */
export function dayOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 10);
}
