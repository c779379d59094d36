const WORD_CHARS_MAX = 12;

/**
 * Cuts a text into its tokens; joined they are the text again. A token is up to 12 letters and digits, or one other
 * character, with the blanks before it.
 */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfToken(text, start);
    tokens.push(text.slice(start, end));
    start = end;
  }
  return tokens;
}

function endOfToken(text: string, start: number): number {
  let at = start;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  const wordStart = at;
  while (at < text.length && at - wordStart < WORD_CHARS_MAX && isLetter(text.charCodeAt(at))) at++;
  if (at > wordStart || at === text.length) return at;
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

function isBlank(code: number): boolean {
  return code <= 0x20 || code === 0xa0;
}

/** Of scripts that are written with spaces; in others every character is a token. */
function isLetter(code: number): boolean {
  if (code < 0x80) return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
  return code >= 0xc0 && code < 0x2000;
}
