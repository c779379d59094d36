import type { Dialects } from '../kit/dialects.ts';

/** The vendor's own queue names its other hosts too; any other server only itself. */
export const DIALECTS = { fal: ['fal.run'] } as const satisfies Dialects;
