import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectsAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{"detail": "words"}` or `{"detail": [{"loc", "msg", "type"}]}`, and have no codes. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: { exception: faultOfRefusal },
});

const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/insufficient (credit|fund|balance)|not enough credits|out of credits/i, 'account'],
  [/moderat(ed|ion)|content policy|not allowed because/i, 'policy'],
];

/** A fault of the vendor's own servers is none of the content. */
function faultOfRefusal(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  // Without `input`, in which the prompt is repeated.
  const words = [stringAt(body, 'detail'), ...objectsAt(body, 'detail').map((problem) => stringAt(problem, 'msg'))];
  return faultInWords(words.join());
}

/** The same for why a generation failed, which is told in words only. */
export function faultInWords(text: string): Fault | undefined {
  return WORDS.find(([words]) => words.test(text))?.[1];
}
