import { objectAt, stringAt } from '../../../src/vendors/kit/json.ts';
import { defineWire } from '../../../src/vendors/kit/wire.ts';

/** Errors are `{"error": {"code", "message"}}`, some of them inside a success. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    errorIn: (body) => objectAt(body, 'error'),
    codesIn: (body) => [stringAt(objectAt(body, 'error'), 'code')],
    codes: {
      policy: ['unsafe_prompt'],
      account: ['no_credit'],
      // Another upstream may take what is too much for this one.
      unfit: ['prompt_too_long'],
    },
    // This vendor's word for a full queue.
    statuses: { 423: 'rate' },
  },
});
