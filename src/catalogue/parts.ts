import type { Clock } from '../clock.ts';
import type { Environment, Secret } from '../config.ts';
import type { VendorTerms } from '../configuration/index.ts';
import type { Bus, Db } from '../db/index.ts';
import type { Logger } from '../log.ts';

export interface CatalogueParts {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rootSecret: Secret;
  /** What `${NAME}` in a document is taken from. */
  readonly environment: Environment;
  readonly vendors: readonly VendorTerms[];
}
