import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { itemsAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Pictures and sounds that its moderation blurred or silenced come as a success with this reason. */
export const FILTERED = 'CONTENT_FILTERED';

/** Unverified: how long an account that called too often is locked out. */
const LOCKOUT_MS = 60_000;

/** Errors are `{"id", "name", "errors": ["words"]}`; the name tells refused content from a refused key, both 403. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    errorIn: (body) => (body.finish_reason === FILTERED ? FILTERED : undefined),
    codesIn: (body) => [stringAt(body, 'name'), stringAt(body, 'finish_reason')],
    codes: {
      client: ['bad_request'],
      policy: ['content_moderation', FILTERED],
      account: ['payment_required', 'unauthorized'],
      rate: ['rate_limit_exceeded'],
      unfit: ['payload_too_large'],
    },
    exception: accountInWords,
    retryAfterMs: (body) => (stringAt(body, 'name') === 'rate_limit_exceeded' ? LOCKOUT_MS : undefined),
  },
});

/** An error of a field begins with its name, and may repeat the prompt behind it: words count only where they begin. */
const ACCOUNT_WORDS = /^(you lack sufficient credits|your organization does not have enough balance|authorization:)/i;

/** An unpaid bill or a bad key, whatever the status of the refusal. */
function accountInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const words = [...itemsAt(body, 'errors'), stringAt(body, 'message')];
  return words.some((text) => typeof text === 'string' && ACCOUNT_WORDS.test(text)) ? 'account' : undefined;
}
