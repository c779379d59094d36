import { missingPackage } from '../packages.ts';
import type { Vendor } from './vendor.ts';

/** Of its package; where that is not installed, a vendor that offers no work and whose upstreams are refused. */
export async function loadSandbox(): Promise<Vendor> {
  const missing = missingPackage('@tollgate/sandbox');
  if (missing !== undefined) return { name: 'sandbox', address: 'none', apiKey: 'none', missing };
  const { sandbox } = await import('@tollgate/sandbox');
  return sandbox;
}
