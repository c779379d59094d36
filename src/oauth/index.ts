/** Third-party applications: for now their registration, which only the operator does. */
export { registerClient, removeClient } from './clients.ts';
export { listClients, type OauthClient } from './store.ts';
