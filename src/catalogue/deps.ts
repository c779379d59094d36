import type { Clock } from '../clock.ts';
import type { Environment } from '../config.ts';
import type { Bus, Db } from '../db/index.ts';
import type { Logger } from '../log.ts';
import type { RootSecrets } from '../seal.ts';
import type { LoadableVendors } from './vendors.ts';

export interface CatalogueDeps extends RootSecrets {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  /** What `${NAME}` in a document is taken from. */
  readonly environment: Environment;
  readonly vendors: LoadableVendors;
}
