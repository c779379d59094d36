import type { ListedVendor, VendorTerms } from './listed.ts';
import type { Vendor } from './vendor.ts';

/** The vendors of one process: the terms of all, the work of those that were loaded. What was loaded stays. */
export class Vendors {
  readonly terms: readonly VendorTerms[];
  readonly #listed: ReadonlyMap<string, ListedVendor>;
  readonly #loaded = new Map<string, Vendor>();

  constructor(listed: readonly ListedVendor[]) {
    this.terms = listed;
    this.#listed = new Map(listed.map((vendor) => [vendor.name, vendor]));
  }

  /** Undefined for one that was not loaded. */
  find(name: string): Vendor | undefined {
    return this.#loaded.get(name);
  }

  /**
   * Loads those that are not loaded yet; harmless when repeated. Resolves to the reasons of those that cannot be loaded, by
   * name. A name that is not listed is passed over: a configuration may be that of a newer release.
   */
  async load(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const reasons = new Map<string, string>();
    await Promise.all(
      [...new Set(names)].map(async (name) => {
        const listed = this.#listed.get(name);
        if (listed === undefined || this.#loaded.has(name)) return;
        try {
          const vendor = await loadVendor(listed);
          // Two loads may overlap; candidates are to see one and the same vendor.
          if (!this.#loaded.has(name)) this.#loaded.set(name, vendor);
        } catch (error) {
          reasons.set(name, error instanceof Error ? error.message : String(error));
        }
      }),
    );
    return reasons;
  }
}

/** With its work; what is missing has none. */
export async function loadVendor({ load, ...terms }: ListedVendor): Promise<Vendor> {
  if (terms.missing !== undefined) return terms;
  const { work } = await load();
  return { ...terms, ...work };
}
