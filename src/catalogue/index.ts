/**
 * What is sold and through which upstreams: every configuration that was in force, and the snapshot that this process
 * answers from. Hides sealing of secrets, and how a new version reaches every process.
 */
export { applyAtStart, applyDocument, applyVersion, checkDocument, setUpstreamEnabled } from './apply.ts';
export { Catalogue } from './catalogue.ts';
export type { CatalogueDeps } from './deps.ts';
export { ENDPOINT_PATHS, requireModel } from './missing-model.ts';
export { resealConfigurations } from './reseal.ts';
export { openSecrets, SealedWithAnotherSecret } from './sealed-secrets.ts';
export { type ListedModel, PUBLIC_GROUP, type Snapshot } from './snapshot.ts';
export { type ConfigVersion, findVersion, listVersions, newestVersion, type VersionSummary } from './store.ts';
