import { retryWhileUnavailable } from '../db/index.ts';
import type { ServerDeps } from './deps.ts';
import type { AuthorizationServer, ErrorPage } from './server.ts';
import { listClients } from './store.ts';

/** The authorization server, once it is loaded. */
export type AuthorizationServerLoader = () => Promise<AuthorizationServer>;

/**
 * The library that speaks the protocol is a sixth of all modules, and most deployments have no apps: it is loaded now where
 * one is registered, else for the first request that needs it.
 */
export async function authorizationServerLoader(
  deps: ServerDeps,
  errorPage: ErrorPage,
): Promise<AuthorizationServerLoader> {
  let server: Promise<AuthorizationServer> | undefined;
  const load = () => (server ??= loadServer(deps, errorPage));
  const [app] = await retryWhileUnavailable(() => listClients(deps.db, 1, undefined));
  if (app !== undefined) await load();
  return load;
}

async function loadServer(deps: ServerDeps, errorPage: ErrorPage): Promise<AuthorizationServer> {
  const { AuthorizationServer } = await import('./server.ts');
  return new AuthorizationServer(deps, errorPage);
}
