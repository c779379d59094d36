import type { Authenticator } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Bus, Db } from '../db/index.ts';
import { endAbandoned, extendLeases, lapseExpired } from '../ledger/index.ts';
import type { Logger } from '../log.ts';
import type { Throttle } from '../throttle/index.ts';

export interface WorkerParts {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly throttle: Throttle;
  readonly log: Logger;
}

interface Duty {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown> | unknown;
}

/** What runs beside the requests, and how often. Every process does all of it: each duty is harmless when shared. */
function duties({ db, bus, clock, authenticator, throttle, log }: WorkerParts): readonly Duty[] {
  let peersSeen = 0;
  return [
    // Several times per lease, so that one slow round does not lose it.
    { name: 'extend leases', everyMs: 5_000, run: () => extendLeases(db, bus.processId, clock.now()) },
    { name: 'end abandoned reservations', everyMs: 5_000, run: () => endAbandoned(db, clock.now()) },
    { name: 'lapse expired grants', everyMs: 60_000, run: () => lapseExpired(db, clock.now()) },
    { name: 'save last use of keys', everyMs: 10_000, run: () => authenticator.saveLastUsed() },
    {
      name: 'watch for peers',
      everyMs: 5_000,
      run: () => {
        if (!throttle.shared && bus.peers > peersSeen) {
          log.warn({ processes: bus.peers + 1 }, 'processes share this database, but each counts rate limits alone');
        }
        peersSeen = bus.peers;
      },
    },
  ];
}

/** Begins at once. Returns what ends it, after a last round of whatever must not be lost. */
export function startDuties(parts: WorkerParts): () => Promise<void> {
  const running = duties(parts).map((duty) => repeat(duty, parts.log));
  return async () => {
    await Promise.all(running.map((stop) => stop()));
    await parts.authenticator.saveLastUsed().catch(() => undefined);
  };
}

/** One round after the other, never two at once; a round that fails is told and tried again at its next time. */
function repeat({ name, everyMs, run }: Duty, log: Logger): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    try {
      await run();
    } catch (error) {
      log.warn({ duty: name, err: error }, 'a duty failed and will be tried again');
    }
    if (!stopped) timer = setTimeout(() => void begin(), everyMs).unref();
  };
  const begin = () => (current = round());
  let current = round();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await current;
  };
}
