import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import type { Logger } from '../log.ts';
import type { RootSecrets } from '../seal.ts';

/** What registering apps and keeping grants needs. */
export interface OauthDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** What the authorization server needs on top of it. */
export interface ServerDeps extends OauthDeps, RootSecrets {
  readonly log: Logger;
  readonly config: { readonly publicUrl: string };
}
