import type { CredentialCheck } from '../vendor.ts';
import type { Wire } from './wire.ts';

/** A list that only the owner of the credential can read. */
export function readingCheck(wire: Wire, what: string, path: string): CredentialCheck {
  return {
    what,
    run: async (upstream) => {
      await wire.json(upstream, { path });
    },
  };
}
