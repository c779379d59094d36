import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** The vendor refuses a call that does not name it. */
const API_VERSION = '2024-11-06';

/** Errors are `{"error": "words"}`; a task that failed has a `failureCode` as well, whose families are open-ended. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}`, 'x-runway-version': API_VERSION }),
  faults: {
    codesIn: (body) => [stringAt(body, 'failureCode')],
    codes: {
      policy: ['SAFETY.INPUT.TEXT', 'SAFETY.INPUT.IMAGE', 'SAFETY.INPUT.VIDEO', 'SAFETY.OUTPUT.VIDEO'],
      client: ['ASSET.INVALID'],
      server: ['INTERNAL', 'INPUT_PREPROCESSING.INTERNAL'],
    },
    patterns: [
      [/(^|\.)SAFETY(\.|$)/, 'policy'],
      [/^INPUT_PREPROCESSING\./, 'client'],
    ],
    exception: faultInWords,
  },
});

const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/(not have|not) enough credits|insufficient credits|out of credits/i, 'account'],
  [/content moderation|\bmoderated\b/i, 'policy'],
];

/** An empty account is told in words, as a bad request. A fault of the vendor's own servers is none of the content. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const text = stringAt(body, 'error') ?? '';
  return WORDS.find(([words]) => words.test(text))?.[1];
}
