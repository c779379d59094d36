import type { Snapshot } from '../catalogue/index.ts';

const REDACTED = '[redacted]';
/** In the place of NUL, which PostgreSQL keeps in no text: the row, and all that is written with it, would be refused. */
const REPLACEMENT = '\ufffd';
/** Anything shorter is a word such as "none", which local servers are given in place of a secret. */
const SECRET_CHARS_MIN = 5;

/**
 * A text that came from an upstream, fit to be kept: without NUL, and without any configured secret, be it plain, in base64,
 * or encoded for a URL.
 */
export function redact(snapshot: Snapshot, text: string): string {
  const secrets = secretsOf(snapshot);
  const kept = text.replaceAll('\0', REPLACEMENT);
  return secrets === undefined ? kept : kept.replace(secrets, REDACTED);
}

/** The same for an error and all that caused it, in place: whatever keeps or logs it later keeps no secret. */
export function redactError(snapshot: Snapshot, error: Error): void {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    for (const name of ['message', 'stack'] as const) {
      const text = at[name];
      // Defined, not assigned: a DOMException, as a timeout of a signal is, has a getter alone.
      if (text !== undefined) Object.defineProperty(at, name, { value: redact(snapshot, text), configurable: true });
    }
  }
}

const patterns = new WeakMap<Snapshot, { readonly pattern: RegExp | undefined }>();

function secretsOf(snapshot: Snapshot): RegExp | undefined {
  let known = patterns.get(snapshot);
  if (known === undefined) {
    known = { pattern: patternOf([...snapshot.secrets.values()]) };
    patterns.set(snapshot, known);
  }
  return known.pattern;
}

function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set(secrets.filter(({ length }) => length >= SECRET_CHARS_MIN).flatMap(formsOf));
  if (forms.size === 0) return undefined;
  // The longest first, so that of a secret that begins with another nothing is left over.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'gi');
}

function formsOf(secret: string): string[] {
  const inBase64 = [0, 1, 2].flatMap((offset) => {
    const text = base64At(secret, offset);
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...inBase64];
}

/** As it stands inside the base64 of a longer text, without the characters that depend on what is around it. */
function base64At(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  const whole = bytes.toString('base64').replace(/=+$/, '');
  return whole.slice(Math.ceil((offset * 8) / 6), bytes.length % 3 === 0 ? undefined : -1);
}
