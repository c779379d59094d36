/**
 * Accounts and their API keys: making, changing and ending them, and finding who calls.
 * Hides that only digests are stored, the cache of known callers, and how every process learns of a change at once.
 */
export { addAccount, changeAccount, type NewAccount, updateAccount } from './accounts.ts';
export { Authenticator, type Credential, invalidToken } from './authenticate.ts';
export type { Caller } from './caller.ts';
export { findConsoleCaller } from './console-caller.ts';
export type { AccountDeps } from './deps.ts';
export {
  addKey,
  createKey,
  deleteKey,
  type KeyChange,
  type KeySettings,
  type NewKey,
  type RolledKey,
  rollKey,
  updateKey,
} from './keys.ts';
export { type Account, type ApiKey, findAccount, findKey, listAccounts, listKeys } from './store.ts';
