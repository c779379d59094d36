import { createHash } from 'node:crypto';
import { type Actor, recordChange } from '../audit/index.ts';
import {
  type ConfigDocument,
  DocumentError,
  type DocumentInForce,
  type DocumentProblem,
  diffDocuments,
  documentWarnings,
  maskDocument,
  parseSourceAsync,
  resolveSecrets,
} from '../configuration/index.ts';
import type { Queries, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { CatalogueDeps } from './deps.ts';
import { digestsOf, openSecrets, SealedWithAnotherSecret, sealSecrets } from './sealed-secrets.ts';
import { publicContent } from './snapshot.ts';
import {
  type ConfigSource,
  type ConfigVersion,
  findVersion,
  forgetBreakers,
  insertModels,
  insertVersion,
  lockConfig,
  newestVersion,
  newestVersionFrom,
  savePublicList,
} from './store.ts';
import { loadVendors } from './vendors.ts';

// An audit row names the changes, not a whole catalogue that was replaced.
const CHANGES_RECORDED_MAX = 200;

export interface Applied {
  readonly version: bigint;
  readonly changes: readonly string[];
}

interface AppliedDocument extends Applied {
  /** What is lawful in the document and probably not meant. They are in the log too. */
  readonly warnings: readonly string[];
}

/**
 * Puts a document in force, whole or not at all. Throws DocumentError with every problem; then nothing has changed.
 * A document equal to the one in force changes nothing either.
 */
export async function applyDocument(deps: CatalogueDeps, by: Actor, text: string): Promise<AppliedDocument> {
  const { document, refuse } = await readSource(deps, text);
  const applied = await underConfigLock(deps, async (tx, current) => {
    const { secrets } = resolveSecrets(document, deps.environment, current, refuse);
    return save(deps, tx, by, { source: 'operator', document, secrets }, current);
  });
  return { ...applied, warnings: warn(deps, document) };
}

/** Checks a text, and loads its vendors before the lock is taken: what is put in force can be worked with at once. */
async function readSource({ vendors }: CatalogueDeps, text: string): ReturnType<typeof parseSourceAsync> {
  const source = await parseSourceAsync(text, vendors.terms);
  await loadVendors(vendors, source.document, source.refuse);
  return source;
}

/** What is wrong with a document, or what applying it would change. */
export type DocumentCheck =
  | { readonly problems: readonly DocumentProblem[] }
  | { readonly changes: readonly string[]; readonly warnings: readonly string[] };

/** What `applyDocument` would do or refuse. Changes nothing. */
export async function checkDocument(deps: CatalogueDeps, text: string): Promise<DocumentCheck> {
  const current = await readCurrent(deps, deps.db);
  try {
    const { document, refuse } = await readSource(deps, text);
    const { secrets } = resolveSecrets(document, deps.environment, current, refuse);
    const changes = changesBetween(current, { document: maskDocument(document), secrets });
    return { changes, warnings: documentWarnings(document) };
  } catch (error) {
    if (error instanceof DocumentError) return { problems: error.problems };
    throw error;
  }
}

/**
 * Puts an earlier version in force again, as a new one and by today's rules. Its keys are those that were sealed with it;
 * what it takes from the environment is read anew. Throws `config_version_not_found`, and DocumentError where a key cannot
 * be had any more.
 */
export async function applyVersion(deps: CatalogueDeps, by: Actor, version: bigint): Promise<AppliedDocument> {
  const earlier = await findVersion(deps.db, version);
  if (earlier === undefined) throw new ApiError('config_version_not_found');
  const { document } = await readSource(deps, JSON.stringify(earlier.document));
  const inForceThen = { document: earlier.document, secrets: openOrRefuse(deps, earlier) };
  const { secrets } = resolveSecrets(document, deps.environment, inForceThen);
  const next = { source: 'operator', document, secrets, fromVersion: version } as const;
  const applied = await underConfigLock(deps, (tx, current) => save(deps, tx, by, next, current));
  return { ...applied, warnings: warn(deps, document) };
}

function openOrRefuse(deps: CatalogueDeps, version: ConfigVersion): ReadonlyMap<string, string> {
  try {
    return openSecrets(deps, version);
  } catch (error) {
    if (!(error instanceof SealedWithAnotherSecret)) throw error;
    const problem = `the keys of version ${version.version} were sealed with another TOLLGATE_SECRET; apply its document with the keys themselves`;
    throw new DocumentError([{ path: 'upstreams', problem }]);
  }
}

function warn({ log }: CatalogueDeps, document: ConfigDocument): readonly string[] {
  const warnings = documentWarnings(document);
  for (const warning of warnings) log.warn({ warning }, 'the configuration may not be what was meant');
  return warnings;
}

/**
 * The same for the file or the built-in catalogue at start. What the operator has changed since then through the
 * routes stays in force until the file itself changes; the built-in one never replaces anything else.
 */
export async function applyAtStart(
  deps: CatalogueDeps,
  by: Actor,
  source: 'file' | 'built-in',
  text: string,
): Promise<Applied> {
  const { document } = await readSource(deps, text);
  warn(deps, document);
  return underConfigLock(deps, async (tx, current) => {
    const { secrets } = resolveSecrets(document, deps.environment, current);
    const previous = await newestVersionFrom(tx, source);
    const isKnown = previous !== undefined && digestsOf(deps, { document, secrets }).includes(previous.digest);
    const isOutranked = source === 'built-in' && current !== undefined && current.source !== 'built-in';
    if (current !== undefined && (isKnown || isOutranked)) return { version: current.version, changes: [] };
    return save(deps, tx, by, { source, document, secrets }, current);
  });
}

export async function setUpstreamEnabled(
  deps: CatalogueDeps,
  by: Actor,
  id: string,
  enabled: boolean,
): Promise<Applied> {
  return underConfigLock(deps, async (tx, current) => {
    if (current?.document.upstreams.some((upstream) => upstream.id === id) !== true) {
      throw new ApiError('upstream_not_found');
    }
    const { document: before, secrets } = current;
    const upstreams = before.upstreams.map((upstream) => (upstream.id === id ? { ...upstream, enabled } : upstream));
    const next = { source: 'operator', document: { ...before, upstreams }, secrets } as const;
    // Also when it is enabled already: an operator who says so wants it back.
    if (enabled) await closeBreakers(deps, tx, next, [id]);
    return save(deps, tx, by, next, current);
  });
}

type Current = ConfigVersion & DocumentInForce;

/** Holds the configuration lock, so that changes are applied one after the other, each on top of what is in force. */
async function underConfigLock(
  deps: CatalogueDeps,
  work: (tx: Tx, current: Current | undefined) => Promise<Applied>,
): Promise<Applied> {
  const { applied, isNew } = await deps.db.transaction(async (tx) => {
    await lockConfig(tx);
    const current = await readCurrent(deps, tx);
    const applied = await work(tx, current);
    return { applied, isNew: applied.version !== current?.version };
  });
  if (isNew) await deps.bus.heardByAll();
  return applied;
}

async function readCurrent(deps: CatalogueDeps, queries: Queries): Promise<Current | undefined> {
  const newest = await newestVersion(queries);
  return newest && { ...newest, secrets: openSecrets(deps, newest) };
}

async function save(
  deps: CatalogueDeps,
  tx: Tx,
  by: Actor,
  next: DocumentInForce & { readonly source: ConfigSource; readonly fromVersion?: bigint },
  current: Current | undefined,
): Promise<Applied> {
  const digests = digestsOf(deps, next);
  // A file that says what is in force already is recorded all the same, so that the next start knows it.
  if (current !== undefined && digests.includes(current.digest) && next.source !== 'file')
    return { version: current.version, changes: [] };
  const document = maskDocument(next.document);
  const changes = changesBetween(current, { document, secrets: next.secrets });
  const now = deps.clock.now();
  const sealedSecrets = sealSecrets(deps, next.secrets);
  const version = await insertVersion(tx, {
    source: next.source,
    document,
    sealedSecrets,
    digest: digests[0],
    appliedAt: now,
    actor: by.name,
    changeCount: changes.length,
  });
  await insertModels(
    tx,
    document.models.map((model) => model.id),
    now,
  );
  const content = JSON.stringify(publicContent(document));
  await savePublicList(tx, createHash('sha256').update(content).digest('hex'), now);
  await closeBreakers(deps, tx, next, renewed(current, { document, secrets: next.secrets }));
  const detail = {
    source: next.source,
    ...(next.fromVersion === undefined ? {} : { from_version: Number(next.fromVersion) }),
    changes: changes.slice(0, CHANGES_RECORDED_MAX),
    change_count: changes.length,
  };
  await recordChange(tx, by, { at: now, action: 'config.apply', target: `version ${version}`, detail });
  await deps.bus.announce(tx, 'config', String(version));
  return { version, changes };
}

/** A breaker that is open for the old key or address, or from before an upstream was disabled, must not outlive it. */
async function closeBreakers(
  deps: CatalogueDeps,
  tx: Tx,
  { document }: DocumentInForce,
  changed: readonly string[],
): Promise<void> {
  const configured = document.upstreams.map(({ id }) => id);
  await forgetBreakers(tx, changed, configured);
  await deps.bus.announce(tx, 'upstream', '');
}

/** The upstreams that are another account now, or are enabled again. */
function renewed(before: DocumentInForce | undefined, after: DocumentInForce): string[] {
  const known = new Map(before?.document.upstreams.map((upstream) => [upstream.id, upstream]));
  const changed = after.document.upstreams.filter(({ id, vendor, base_url, enabled }) => {
    const old = known.get(id);
    const isSame = old?.vendor === vendor && old.base_url === base_url;
    return !isSame || (enabled && !old.enabled) || before?.secrets.get(id) !== after.secrets.get(id);
  });
  return changed.map(({ id }) => id);
}

/** Documents are masked, so that a key in place of another shows only in the secrets. */
function changesBetween(before: DocumentInForce | undefined, after: DocumentInForce): readonly string[] {
  const changes = diffDocuments(before?.document ?? { upstreams: [], models: [] }, after.document);
  const replaced = [...after.secrets].filter(([id, secret]) => (before?.secrets.get(id) ?? secret) !== secret);
  return [...new Set([...changes, ...replaced.map(([id]) => `~ upstream ${id}: api_key changed`)])];
}
