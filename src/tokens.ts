// Common tokenizers make about one token of four letters of English, and of little more than one letter of other
// scripts. These figures lie on the careful side: an estimate holds credits, and what is not used is given back.
const ASCII_CHARS_PER_TOKEN = 3.5;
const TOKENS_PER_OTHER_CHAR = 1.2;
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_IMAGE = 1_500;

/** About how many tokens a text is. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 0x80) ascii++;
  return Math.ceil(ascii / ASCII_CHARS_PER_TOKEN + (text.length - ascii) * TOKENS_PER_OTHER_CHAR);
}

/**
 * The same for a prompt of any shape: every text in it counts, at any depth, and every item of a list as a message.
 * Media inside it is counted by the piece and not by its bytes.
 */
export function estimatePromptTokens(prompt: unknown): number {
  if (typeof prompt === 'string') return isMedia(prompt) ? TOKENS_PER_IMAGE : estimateTokens(prompt);
  if (Array.isArray(prompt)) {
    return prompt.reduce<number>((sum, item) => sum + TOKENS_PER_MESSAGE + estimatePromptTokens(item), 0);
  }
  if (typeof prompt !== 'object' || prompt === null) return 1;
  const values: unknown[] = Object.values(prompt);
  return values.reduce<number>((sum, value) => sum + estimatePromptTokens(value), 0);
}

/** A data URL, or text so long and so free of spaces that it can only be base64. */
function isMedia(text: string): boolean {
  return text.startsWith('data:') || (text.length > 4096 && !/\s/.test(text.slice(0, 4096)));
}
