import { z } from 'zod';
import { AMOUNT_MICRO_MAX, creditsFromNumber, creditsToNumber, type MicroCredits } from '../../credits.ts';
import {
  CONCURRENCY_MAX,
  GROUPS_MAX,
  NAME_CHARS_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  RPM_MAX,
} from '../../limits.ts';

const PLAIN = { error: 'expected text without control characters' };

/** Text that a database, a log line and a person can hold: no NUL, no lone surrogate, no control or bidi characters. */
export const nameField = z.string().trim().min(1).max(NAME_CHARS_MAX).refine(isPlainText, PLAIN);

/** A foreign id or number, kept to the letter. */
export const referenceField = z.string().min(1).max(NAME_CHARS_MAX).refine(isPlainText, PLAIN);

function isPlainText(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(text);
}

const groupField = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
  error: 'expected a group name of lower-case letters, digits, - and _',
});

export const groupsField = z
  .array(groupField)
  .min(1)
  .max(GROUPS_MAX)
  .transform((groups) => [...new Set(groups)].sort());

export const rpmField = z.int().min(1).max(RPM_MAX);
export const concurrencyField = z.int().min(1).max(CONCURRENCY_MAX);

/** Credits as a JSON number with at most six decimals, to exact micro-credits. */
export const creditsField = creditsFrom(0n);

/** The same, below zero too, and never none. */
export const signedCreditsField = creditsFrom(-AMOUNT_MICRO_MAX).refine((amount) => amount !== 0n, {
  error: 'expected more than no credits, or less',
});

function creditsFrom(least: MicroCredits) {
  return z.number().transform((credits, context) => {
    const micro = creditsFromNumber(credits);
    if (micro !== undefined && micro >= least && micro <= AMOUNT_MICRO_MAX) return micro;
    const [from, to] = [creditsToNumber(least), creditsToNumber(AMOUNT_MICRO_MAX)];
    const message = `expected credits from ${from} to ${to} with at most six decimals`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

// Far enough for any purpose, near enough that every date of it can be printed and stored.
const UNIX_SECONDS_MAX = 32_503_680_000;

/** Unix seconds on the wire, a Date inside. */
export const momentField = z
  .int()
  .min(0)
  .max(UNIX_SECONDS_MAX)
  .transform((seconds) => new Date(seconds * 1000));

/** In a query: Unix seconds, or a day in UTC. */
export const momentParam = z
  .string()
  .regex(/^(\d{1,11}|\d{4}-\d{2}-\d{2})$/, { error: 'expected Unix seconds or a day as YYYY-MM-DD' })
  .transform((text) => new Date(text.includes('-') ? `${text}T00:00:00Z` : Number(text) * 1000))
  .refine((date) => !Number.isNaN(date.getTime()), { error: 'expected a day that exists' });

/** In a query: a name or an id to look for. */
export const textParam = z.string().min(1).max(NAME_CHARS_MAX).refine(isPlainText, PLAIN).optional();

/** `limit` and `after` of every list. */
export const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,6}$/, { error: `expected a whole number from 1 to ${PAGE_SIZE_MAX}` })
    .transform(Number)
    .pipe(z.int().min(1).max(PAGE_SIZE_MAX))
    .default(PAGE_SIZE_DEFAULT),
  after: textParam,
});
