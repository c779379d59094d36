/**
 * Third-party applications: their registration by the operator, what people allow them, and the authorization server.
 * Hides the library that speaks the protocol, and that nothing but digests is stored of what it issues.
 */
export { type ClientChange, registerClient, removeClient, updateClient } from './clients.ts';
export type { OauthDeps } from './deps.ts';
export * as devices from './devices.ts';
export { changeSpendLimit, giveConsent, revokeGrant } from './grants.ts';
export {
  findLatestGrant,
  type LimitReset,
  type ListedGrant,
  listGrants,
  type OauthGrant,
  type PayingAccount,
  payingAccounts,
} from './grants-store.ts';
export { type AuthorizationServerLoader, authorizationServerLoader } from './loader.ts';
export { OAUTH_PATHS, serverMetadata } from './metadata.ts';
export * as protectedResource from './protected-resource.ts';
export { forgetRecords } from './records-store.ts';
export type { AuthorizationServer, PendingAuthorization } from './server.ts';
export { findClient, listClients, type OauthClient } from './store.ts';
