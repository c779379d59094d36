import type { Dialects } from '../kit/dialects.ts';

/**
 * An account of this dialect has a webhook for transcripts. The vendor then answers with the id of a transcript that it
 * stores, and that can be read after a restart; what it tells the webhook is not needed.
 */
export const DIALECTS = { webhook: [] } as const satisfies Dialects;
