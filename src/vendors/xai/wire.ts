import type { Fault } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{"code", "error": "words"}`, `{"error": "words"}` or `{"error": {"code", "message"}}`, some inside a success. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    errorIn,
    codesIn: (body) => [stringAt(body, 'code'), stringAt(objectAt(body, 'error'), 'code')],
    // Unverified beyond `invalid-argument`, of which the rest are the siblings.
    codes: {
      client: ['invalid-argument', 'failed-precondition', 'out-of-range'],
      account: ['unauthenticated', 'permission-denied'],
      rate: ['resource-exhausted'],
      config: ['not-found', 'unimplemented'],
      server: ['internal', 'unavailable', 'aborted', 'unknown', 'deadline-exceeded'],
      policy: ['moderation_blocked', 'content_policy_violation'],
    },
    exception: faultInWords,
  },
});

/** A task that is over tells its error beside its status, and that is no error of the call. */
function errorIn(body: JsonObject): JsonValue | undefined {
  return body.status === undefined && body.error ? body.error : undefined;
}

const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/all available credits|spending limit|any credits|more credits|out of credits|insufficient credit/i, 'account'],
  [/(incorrect|invalid) api key/i, 'account'],
  [/moderation|usage guidelines|SAFETY_CHECK/i, 'policy'],
];

/** An empty account and a wrong key are told as a bad request or as a throttle, in words only. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const text = stringAt(body, 'error') ?? stringAt(objectAt(body, 'error'), 'message') ?? '';
  return WORDS.find(([words]) => words.test(text))?.[1];
}
