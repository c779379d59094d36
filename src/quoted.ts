/** Longer than the names of models and fields, shorter than what could fill a log or a screen. */
const QUOTED_CHARS_MAX = 80;
/** API keys by their beginning, other credentials by a length that no name has. */
const CREDENTIAL = /\bsk-[\w-]{8,}|[\w-]{40,}/g;
/** What a terminal or a page would act upon instead of showing it, and the characters that quoting itself uses. */
const UNSHOWN = /[\p{C}\p{Zl}\p{Zp}"\\]/gu;

/** What most texts are, and is shown as it is. */
const PLAIN = /^[ !#-[\]-~]{0,80}$/;

/**
 * A text from outside as a message may carry it: in quotes, cut to a bound, without anything that could be a credential,
 * and with every character escaped that is not shown as itself.
 */
export function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text.replace(CREDENTIAL, '…')}"`;
  let shown = '';
  // Masked before it is cut, lest the cut leave of a credential what is not recognised as one.
  for (const char of text.slice(0, 4 * QUOTED_CHARS_MAX).replace(CREDENTIAL, '…')) {
    const next = shown + char.replace(UNSHOWN, escaped);
    if (next.length > QUOTED_CHARS_MAX) return `"${shown}…"`;
    shown = next;
  }
  return `"${shown}"`;
}

function escaped(char: string): string {
  if (char === '"' || char === '\\') return `\\${char}`;
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
