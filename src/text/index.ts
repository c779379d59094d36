/** Text as limits and prices count it: in characters, which are code points, and in estimated tokens. */
export { countCharacters } from './characters.ts';
export { estimatePromptTokens, estimateTokens } from './tokens.ts';
