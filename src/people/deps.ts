import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Bus, Db } from '../db/index.ts';
import type { Mailer } from '../mail/index.ts';
import type { Throttle } from '../throttle/index.ts';

export interface PeopleDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  /** Counts for the deployment, where Redis is set. */
  readonly throttle: Throttle;
  /** Counts for this process alone, always. */
  readonly processThrottle: Throttle;
  /** Undefined sends nothing: links are passed on by hand. */
  readonly mail: Mailer | undefined;
  readonly config: Pick<Config, 'publicUrl' | 'signUp'>;
}
