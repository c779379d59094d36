import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { amountAt, objectsAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/**
 * Errors are `{"detail": "words"}`, `{"detail": [{"loc", "msg", "type"}]}` or `{"error", "message", "retry_after"}`. The
 * states of a task that moderation stopped are codes here too, since a submission may be refused with them.
 */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ 'x-key': apiKey }),
  faults: {
    codesIn: (body) => [stringAt(body, 'error'), stringAt(body, 'status')],
    codes: {
      policy: ['Request Moderated', 'Content Moderated'],
      // Unverified: the documents tell the status 402 and the words, no code.
      account: ['insufficient_credits'],
    },
    exception: faultInWords,
    retryAfterMs: (body) => {
      const seconds = amountAt(body, 'retry_after');
      return seconds === undefined ? undefined : seconds * 1000;
    },
  },
});

const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/insufficient (credit|balance|fund)|not enough credits|out of credits/i, 'account'],
  [/\bmoderated\b|moderation/i, 'policy'],
];

/** An unpaid bill counts as one whatever its status. A fault of the vendor's own servers is none of the content. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const text = [
    stringAt(body, 'detail'),
    stringAt(body, 'message'),
    ...objectsAt(body, 'detail').map(messageOf),
  ].join();
  return WORDS.find(([words]) => words.test(text))?.[1];
}

/** Without `input`, in which the vendor repeats the prompt. */
function messageOf(detail: JsonObject): string | undefined {
  return stringAt(detail, 'msg');
}
