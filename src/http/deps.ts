import type { AccountDeps, Authenticator } from '../accounts/index.ts';
import type { CallDeps, ResponseDeps } from '../calls/index.ts';
import type { Catalogue, CatalogueDeps } from '../catalogue/index.ts';
import type { Config, Secret } from '../config.ts';
import type { PooledDb, probes, ReplicaReads, TestClock } from '../db/index.ts';
import type { CreateDeps, JobWatches } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import type { CleanUp } from '../objects/index.ts';
import type { identity, PeopleDeps } from '../people/index.ts';
import type { RequestLog } from '../request-log/index.ts';
import type { Exposition, Signals, Tracing } from '../signals/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import type { Throttle } from '../throttle/index.ts';
import type { StartDeps } from '../transcriptions/index.ts';
import type { Vendors } from '../vendors/index.ts';
import type { BrowserSessions } from './edge/session.ts';

export interface HttpDeps
  extends AccountDeps,
    CatalogueDeps,
    CallDeps,
    ResponseDeps,
    CreateDeps,
    StartDeps,
    PeopleDeps {
  readonly config: Config;
  readonly db: PooledDb;
  /** For lists and reports that may be a moment old; never for what decides. */
  readonly reads: ReplicaReads;
  /** Any of them is the operator's. */
  readonly adminTokens: readonly Secret[];
  readonly authenticator: Authenticator;
  readonly browser: BrowserSessions;
  /** Present where people sign in by an identity provider. */
  readonly openId: identity.OpenIdClient | undefined;
  readonly catalogue: Catalogue;
  readonly vendors: Vendors;
  readonly throttle: Throttle;
  readonly cleanUp: CleanUp;
  readonly jobWatches: JobWatches;
  readonly objects: ObjectStore;
  readonly log: Logger;
  readonly requestLog: RequestLog;
  /** Present when the operator may move time. */
  readonly testClock: TestClock | undefined;
  readonly writeProbe: probes.WriteProbe;
  readonly schemaProbe: probes.SchemaProbe;
  /** Present where the metrics are exported. */
  readonly signals: Signals | undefined;
  /** Present where traces are exported. */
  readonly tracing?: Tracing | undefined;
  /** Present where they are read on the callers' port. */
  readonly exposition: Exposition | undefined;
  readonly version: string;
}
