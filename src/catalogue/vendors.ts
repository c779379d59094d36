import { type ConfigDocument, DocumentError, type Finding, type VendorTerms } from '../configuration/index.ts';

/** The vendors of this process, as far as a configuration needs them. */
export interface LoadableVendors {
  /** Of all, loaded or not. */
  readonly terms: readonly VendorTerms[];
  /** Resolves to the reasons of those that cannot be loaded, by name. */
  load(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/**
 * Loads every vendor that a document names, so that no request ever waits for a module; of disabled upstreams too, whose
 * running jobs are still polled. Throws DocumentError for those that cannot be loaded.
 */
export async function loadVendors(
  vendors: LoadableVendors,
  { upstreams }: ConfigDocument,
  refuse: (findings: readonly Finding[]) => void = refuseStored,
): Promise<void> {
  const reasons = await vendors.load(upstreams.map(({ vendor }) => vendor));
  refuse(
    upstreams.flatMap(({ vendor }, index) => {
      const reason = reasons.get(vendor);
      if (reason === undefined) return [];
      const problem = `vendor ${vendor} cannot be loaded: ${reason}; mend the installation with ${REPAIR}`;
      return [{ path: ['upstreams', index, 'vendor'], problem }];
    }),
  );
}

/** A module that failed is remembered by Node until the process ends. */
const REPAIR = '"npm ci --omit=dev" where the program lies, and start it again';

/** Of a document that is in force: it was written by another process, and has no lines. */
function refuseStored(findings: readonly Finding[]): void {
  if (findings.length > 0) throw new DocumentError(findings.map(({ problem }) => ({ path: 'upstreams', problem })));
}
