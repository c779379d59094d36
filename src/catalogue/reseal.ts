import { type Actor, recordChange } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import type { RootSecrets } from '../seal.ts';
import { digestsOf, openSecrets, SealedWithAnotherSecret, sealSecrets } from './sealed-secrets.ts';
import { type ConfigVersion, nextVersion, replaceSeals } from './store.ts';

export interface Resealed {
  /** How many stored configurations there are. */
  readonly versions: number;
  readonly resealed: number;
  /** Versions that neither root secret opens. */
  readonly unopened: readonly bigint[];
}

/**
 * Seals the secrets of every stored configuration with the current root secret. One statement per version: gateways
 * that know both secrets go on meanwhile, and a run that was broken off is repeated.
 */
export async function resealConfigurations(
  deps: RootSecrets & { readonly db: Db; readonly clock: Clock },
  by: Actor,
): Promise<Resealed> {
  const { db, clock } = deps;
  const unopened: bigint[] = [];
  let versions = 0;
  let resealed = 0;
  for (let at = await nextVersion(db, 0n); at !== undefined; at = await nextVersion(db, at.version)) {
    versions++;
    const seals = sealsOf(deps, at);
    if (seals === 'unopened') unopened.push(at.version);
    else if (seals !== 'current') resealed += await replaceSeals(db, at.version, seals);
  }
  if (resealed > 0) {
    const detail = { versions, resealed, unopened: unopened.length };
    await db.transaction((tx) =>
      recordChange(tx, by, { at: clock.now(), action: 'secrets.reseal', target: 'config', detail }),
    );
  }
  return { versions, resealed, unopened };
}

type Seals = Pick<ConfigVersion, 'sealedSecrets' | 'digest'>;

/** What the version's seals are by the current root secret, or that they are that already, or that they do not open. */
function sealsOf(root: RootSecrets, version: ConfigVersion): Seals | 'current' | 'unopened' {
  const secrets = openedBy(root, version);
  if (secrets === undefined) return 'unopened';
  const [digest, ...previous] = digestsOf(root, { document: version.document, secrets });
  const isCurrent = openedBy({ rootSecret: root.rootSecret }, version) !== undefined;
  if (isCurrent && !previous.includes(version.digest)) return 'current';
  // A digest of neither secret was made by another release; it is left as it is.
  return {
    sealedSecrets: sealSecrets(root, secrets),
    digest: previous.includes(version.digest) ? digest : version.digest,
  };
}

function openedBy(root: RootSecrets, version: ConfigVersion): Map<string, string> | undefined {
  try {
    return openSecrets(root, version);
  } catch (error) {
    if (error instanceof SealedWithAnotherSecret) return undefined;
    throw error;
  }
}
