import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { toParts } from '../kit/forms.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{err_code, err_msg}` of old, `{category, message, details}` of today, or a bare string that says no more than its status. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Token ${apiKey}` }),
  faults: {
    exception: faultInWords,
    codesIn: (body) => ['err_code', 'category'].map((key) => stringAt(body, key)),
    codes: {
      client: ['INVALID_JSON', 'TOKEN_LIMIT_EXCEEDED'],
      account: ['INVALID_AUTH', 'INSUFFICIENT_PERMISSIONS', 'ASR_PAYMENT_REQUIRED', 'TTS_PAYMENT_REQUIRED'],
      config: ['PROJECT_NOT_FOUND'],
      rate: ['TOO_MANY_REQUESTS'],
      // An upload that broke off or was too slow, which the caller did not send.
      server: ['ASR_UNPROCESSABLE_ENTITY', 'INTERNAL_SERVER_ERROR'],
    },
    patterns: [[/PAYMENT_REQUIRED|INSUFFICIENT_(CREDITS|FUNDS|BALANCE)/, 'account']],
  },
});

/**
 * A language that the model does not know, or a voice that there is not, is a bad request in words only: another upstream
 * may have it. A model that the project may not use has the code of a bad key, but is one route and not the whole upstream.
 * The words are the vendor's own; it repeats neither text nor sound.
 */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status === undefined || status >= 500) return undefined;
  const words = ['err_msg', 'message', 'details'].map((key) => stringAt(body, key) ?? '').join('\n');
  if (/insufficient (credits|funds|balance)|payment required/i.test(words)) return 'account';
  if (/access to the requested model/i.test(words)) return 'config';
  return /no such model/i.test(words) ? 'unfit' : undefined;
}

/** All options of this vendor stand in the query; a list is its name over and over. */
export function pathWith(path: string, options: Parameters<typeof toParts>[0]): string {
  const query = new URLSearchParams(toParts(options, 'repeated').map(({ name, value }) => [name, value]));
  return `${path}?${query.toString()}`;
}
