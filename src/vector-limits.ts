/** The bounds of embeddings, which `limits.ts` names with all others. */

const KIB = 1024;
const MIB = 1024 * KIB;

export const EMBEDDING_BODY_BYTES_MAX = 8 * MIB;
/** Parts of one embeddings call that are with an upstream at the same time. */
export const EMBEDDING_PARTS_AT_ONCE = 4;
export const EMBEDDING_INPUTS_MAX = 2_048;
/** In one body: as many tokens as an upstream takes in one call, and room for all else. */
export const EMBEDDING_VALUES_MAX = 305_000;
export const EMBEDDING_DIMENSIONS_MAX = 65_536;
/** Larger than any vocabulary. */
export const TOKEN_ID_MAX = 2 ** 31 - 1;
/** Tokens that an upstream may add to each input: marks of its begin and end, a prefix for its purpose. */
export const EMBEDDING_TOKENS_SLACK = 16;
/** All numbers of one answer, four bytes each; and the same as an upstream writes them, as base64 or in digits. */
export const VECTORS_BYTES_MAX = 32 * MIB;
export const UPSTREAM_VECTORS_BYTES_MAX = 128 * MIB;
/** An answer is written in pieces of about this size, each in a turn of the event loop. */
export const VECTORS_PIECE_BYTES = 64 * KIB;
