import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Fields and errors differ by it: a voice is an id without a mode, and errors are JSON. */
const VERSION = '2026-08-14';

/** Errors are `{error_code, title, message, request_id}`, where the code may be null. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}`, 'cartesia-version': VERSION }),
  faults: {
    exception: faultInWords,
    codesIn: (body) => [stringAt(body, 'error_code')],
    codes: {
      // The caller chose the voice, and is not to shut the route for others by it.
      client: ['voice_not_found', 'invalid_voice_id'],
      account: ['quota_exceeded', 'invalid_api_key', 'unauthorized', 'plan_upgrade_required', 'account_suspended'],
      config: ['model_not_found'],
      rate: ['concurrency_limited', 'rate_limited'],
    },
    patterns: [
      [/quota|credit|payment|billing/, 'account'],
      [/moderation|policy/, 'policy'],
    ],
  },
});

/** Where no code says it. The words are the vendor's own; it does not repeat the text. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status === undefined || status >= 500 || stringAt(body, 'error_code') !== undefined) return undefined;
  const words = ['title', 'message'].map((key) => stringAt(body, key) ?? '').join('\n');
  if (OUT_OF_CREDITS.test(words)) return 'account';
  if (/moderation|content policy/i.test(words)) return 'policy';
  return status === 404 && /\bvoice\b/i.test(words) ? 'client' : undefined;
}

const OUT_OF_CREDITS =
  /(credit|quota|balance)\w*( \w+)? (limit|exceeded|exhausted|reached)|(insufficient|out of|no more) \w*\s?credit|payment required/i;
