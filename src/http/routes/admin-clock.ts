import { z } from 'zod';
import { recordChange } from '../../audit/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';

const ADVANCE_SECONDS_MAX = 10 * 366 * 24 * 60 * 60;

const advance = z.strictObject({ advance_seconds: z.number().min(0).max(ADVANCE_SECONDS_MAX) });
const clockSchema = z.strictObject({ object: z.literal('clock'), now: z.int(), offset_seconds: z.number() });

/** Only where the operator asked for a test clock; elsewhere the path does not exist. */
export function clockAdminRoutes(routes: Routes, deps: HttpDeps): void {
  const { testClock } = deps;
  if (testClock === undefined) return;
  routes.add(
    {
      method: 'POST',
      path: '/api/admin/clock',
      summary: 'Move the whole program forward in time',
      access: 'operator',
      body: { kind: 'json', schema: advance, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: clockSchema },
    },
    async ({ body, actor }) => {
      const offsetMs = await testClock.advance(Math.round(body.advance_seconds * 1000), async (tx) =>
        recordChange(tx, actor, { at: deps.clock.now(), action: 'clock.advance', target: 'clock', detail: body }),
      );
      return { object: 'clock', now: unixSeconds(deps.clock.now()), offset_seconds: offsetMs / 1000 };
    },
  );
}
