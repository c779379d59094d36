import type { Fault } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { CredentialCheck } from '../credentials.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/**
 * Errors are `{"base_resp": {"status_code", "status_msg"}}`, mostly with status 200; the second version of video has
 * `{"type": "error", "error": {"type", "message"}}` and a status.
 */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    errorIn,
    codesIn: (body) => [codeIn(body), stringAt(objectAt(body, 'error'), 'type')],
    codes: {
      policy: ['1026', '1027'],
      account: [
        // The key, then the balance, the plan and a name that was never verified.
        ...['1004', '2049', 'authorized_error', '1008', 'insufficient_balance_error'],
        ...['1028', '1030', '2056', '2061', '2038'],
      ],
      // Unverified: the vendor's own program reads 1002 and 1039 as content that was filtered, its documents as limits.
      rate: ['1002', '1039', '1041'],
      server: ['1000', '1001', '1024', '1033'],
      client: ['1042', '1043', '1044', '2013', '20132', '2037', '2039'],
    },
    // Of a transcript this is how filtered content is told.
    statuses: { 422: 'policy' },
    exception: faultInWords,
  },
});

/** Lists voices, which costs nothing. */
export const check: CredentialCheck = {
  what: 'a list of its voices',
  run: async (upstream) => {
    await wire.json(upstream, { path: '/v1/get_voice', body: { json: { voice_type: 'system' } } });
  },
};

/** The number of an error as a text; undefined where all is well. */
export function codeAt(from: JsonObject | undefined, key: string): string | undefined {
  const code = from?.[key];
  if (typeof code !== 'number' && typeof code !== 'string') return undefined;
  return Number(code) === 0 ? undefined : String(code);
}

export function codeIn(body: JsonObject): string | undefined {
  return codeAt(objectAt(body, 'base_resp'), 'status_code');
}

function errorIn(body: JsonObject): JsonValue | undefined {
  return codeIn(body) === undefined ? (body.error ?? undefined) : body.base_resp;
}

const WORDS: readonly (readonly [RegExp, Fault])[] = [
  [/insufficient (balance|credit|fund)/i, 'account'],
  [/(?<!case[- ]|in)sensitive/i, 'policy'],
];

/** An unpaid bill counts as one whatever its status. A fault of the vendor's own servers is none of the content. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const text = [
    stringAt(objectAt(body, 'base_resp'), 'status_msg'),
    stringAt(objectAt(body, 'error'), 'message'),
  ].join();
  return WORDS.find(([words]) => words.test(text))?.[1];
}
