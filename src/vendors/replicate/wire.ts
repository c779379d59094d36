import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectsAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

const CODE = /\bE\d{3,4}\b/;
const THROTTLED_FOR = /resets in ~?(\d{1,6})s/i;

/**
 * Errors are words, as `{"title", "status", "detail"}`, `{"detail"}` or `{"error"}`, and some name a code such as `E005`. A
 * prediction that failed has the same in its `error`.
 */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    codesIn: (body) => [CODE.exec(textOf(body))?.[0]],
    codes: {
      policy: ['E005'],
      client: ['E006'],
      // Busy, of unknown cause, out of memory, an upload or a webhook that failed, a start that took too long.
      server: ['E003', 'E1000', 'E1001', 'E4875', 'E6716'],
    },
    exception: faultInWords,
    retryAfterMs: (body) => {
      const seconds = THROTTLED_FOR.exec(textOf(body))?.[1];
      return seconds === undefined ? undefined : Number(seconds) * 1000;
    },
  },
});

/** Of a prediction that failed. */
export function faultOfRun(error: string): Fault {
  return wire.faults.ofBody({ error }) ?? 'server';
}

const BAD_INPUT = 'Input validation failed';

const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/insufficient (credit|balance|fund)|out of credits?\b|(spend|free time) limit reached|payment required/i, 'account'],
  [/version does not exist|invalid version or not permitted/i, 'config'],
  [/\bnsfw\b|flagged (as|by|for)|sensitive content|content polic|safety (filter|checker|system)|moderat/i, 'policy'],
];
/** A run that could not read its input says so only when it has begun. */
const RUN_WORDS = /^(input )?validation error|invalid input/i;

/** A fault of the vendor's own servers is none of the content, and what is told of one field may repeat the prompt. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if ((status !== undefined && status >= 500) || stringAt(body, 'title') === BAD_INPUT) return undefined;
  const text = textOf(body);
  const fault = WORDS.find(([words]) => words.test(text))?.[1];
  return fault ?? (status === undefined && RUN_WORDS.test(text) ? 'client' : undefined);
}

function textOf(body: JsonObject): string {
  const problems = objectsAt(body, 'detail').map((problem) => stringAt(problem, 'msg'));
  const texts = [stringAt(body, 'title'), stringAt(body, 'detail'), stringAt(body, 'error'), ...problems];
  return texts.filter((text) => text !== undefined).join('\n');
}
