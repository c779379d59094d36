import type { Catalogue } from '../catalogue/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Bus, PooledDb, probes, ReplicaReads } from '../db/index.ts';
import type { Logger } from '../log.ts';
import type { Health } from '../routing/index.ts';
import type { Throttle } from '../throttle/index.ts';

export interface MetricsDeps {
  readonly db: PooledDb;
  readonly reads: ReplicaReads;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly health: Health;
  readonly throttle: Throttle;
  readonly writeProbe: probes.WriteProbe;
  readonly version: string;
}
