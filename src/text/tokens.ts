// Common tokenizers make about one token of four letters of English, and of little more than one letter of other
// scripts. These figures lie on the careful side: an estimate holds credits, and what is not used is given back.
const ASCII_CHARS_PER_TOKEN = 3.5;
const TOKENS_PER_OTHER_CHAR = 1.2;
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_IMAGE = 1_500;

/** About how many tokens a text is. */
export function estimateTokens(text: string): number {
  const ascii = asciiChars(text);
  return Math.ceil(ascii / ASCII_CHARS_PER_TOKEN + (text.length - ascii) * TOKENS_PER_OTHER_CHAR);
}

const COUNTED_CHARS_MAX = 65_536;
const SAMPLES = 64;
const SAMPLE_CHARS = COUNTED_CHARS_MAX / SAMPLES;

/**
 * Counts one by one only what takes no time: 25 MB would keep the event loop for a fifth of a second. Of a longer text the
 * length in UTF-8 bounds the other characters, which take one to two bytes more each, and samples tell where in between.
 */
function asciiChars(text: string): number {
  const { length } = text;
  if (length <= COUNTED_CHARS_MAX) return countAscii(text, 0, length);
  const surplusBytes = Buffer.byteLength(text) - length;
  if (surplusBytes === 0) return length;
  let sampled = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(((length - SAMPLE_CHARS) * sample) / (SAMPLES - 1));
    sampled += countAscii(text, from, from + SAMPLE_CHARS);
  }
  const others = length * (1 - sampled / COUNTED_CHARS_MAX);
  const bounded = Math.min(Math.max(others, surplusBytes / 2), surplusBytes, length);
  return length - Math.ceil(bounded);
}

function countAscii(text: string, from: number, to: number): number {
  let ascii = 0;
  for (let at = from; at < to; at++) if (text.charCodeAt(at) < 0x80) ascii++;
  return ascii;
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
