/** The bounds of files that callers keep here, which `limits.ts` names with all others. */

const MIB = 1024 * 1024;

export const FILE_BYTES_MAX = 200 * MIB;
/** Of all kept files that one prompt names, since their bytes go into it. */
export const PROMPT_FILES_BYTES_MAX = 20 * MIB;
export const FILE_KEPT_MS = 24 * 60 * 60 * 1000;
export const FILES_PER_ACCOUNT_MAX = 100;
export const FILES_BYTES_PER_ACCOUNT_MAX = 5 * 1024 * MIB;
