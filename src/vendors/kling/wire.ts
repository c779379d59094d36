import type { JsonObject } from '../../json.ts';
import { defineWire } from '../kit/wire.ts';
import { dropToken, signedHeaders } from './credential.ts';

/** Every answer has a `code`, which is 0 for a success and decides, whatever the status is. */
export const wire = defineWire({
  headers: (upstream) => {
    const { credential, apiKey } = upstream;
    return credential === undefined ? { authorization: `Bearer ${apiKey}` } : signedHeaders(upstream, credential);
  },
  renew: dropToken,
  faults: {
    errorIn: (body) => (codeIn(body) === undefined ? undefined : body),
    codesIn: (body) => [codeIn(body)],
    codes: {
      account: [
        // The credential.
        ...['1000', '1001', '1002', '1003', '1004'],
        // The account: its state, its debts, its packs, its rights. The vendor tells these with the status of a throttle.
        ...['1100', '1101', '1102', '1103', '1304'],
      ],
      client: ['1200', '1201', '1202'],
      config: ['1203'],
      policy: ['1300', '1301'],
      rate: ['1302', '1303'],
      server: ['5000', '5001', '5002'],
    },
  },
});

/** Undefined for a success, and where there is none. */
function codeIn({ code }: JsonObject): string | undefined {
  return typeof code === 'number' && code !== 0 ? String(code) : undefined;
}
