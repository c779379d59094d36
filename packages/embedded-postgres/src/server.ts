import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../src/log.ts';
import type { Watch } from './ask.ts';
import { bringUp, type ServerOptions } from './bring-up.ts';
import { openPlaces, type Places, removeSocketFolder } from './folders.ts';
import { endServer } from './left-over.ts';
import { postmasterOf, sendSignal } from './processes.ts';
import { trimLog } from './server-log.ts';
import {
  CLAIM_MS_MAX,
  CLAIM_POLL_MS,
  DATABASE,
  HEALTHY_AFTER_MS,
  LOG_CHECK_EVERY_MS,
  PORT,
  RESTART_DELAY_FIRST_MS,
  RESTART_DELAY_MS_MAX,
  SUPERUSER,
} from './settings.ts';
import { asStartError, PostgresStartError } from './start-error.ts';

export interface EmbeddedPostgres {
  /** What `pg` needs to connect; the host is the folder of the Unix socket. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** Stops the server in order and waits for its end; harmless when repeated. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The data folder, absolute. */
  readonly folder: string;
  readonly log: Logger;
  /** Is told in short lines for a person what is going on. */
  progress(message: string): void;
  /** Extra settings of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Is called when the server's process runs but does not answer yet; not where one is adopted. */
  launched?(): void;
}

/**
 * Starts the server of this data folder, or adopts the one that a killed gateway left. From then on a server that dies
 * is brought back. Does not keep the process alive. Throws PostgresStartError.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    const places = await openPlaces(options.folder);
    const stopping = new AbortController();
    const report = {
      progress: (message: string) => options.progress(message),
      launched: () => options.launched?.(),
      signal: stopping.signal,
    };
    const watch = await bringUp(places, { settings: options.settings ?? {}, mayCreate: true }, report);
    await claimFor(watch, places);
    return new SupervisedServer(places, { ...options, watch, stopping });
  } catch (error) {
    throw asStartError(error, options.folder);
  }
}

class SupervisedServer implements EmbeddedPostgres {
  readonly connection: EmbeddedPostgres['connection'];
  readonly #places: Places;
  readonly #options: ServerOptions;
  readonly #log: Logger;
  readonly #stopping: AbortController;
  readonly #trimming: NodeJS.Timeout;
  readonly #supervised: Promise<void>;
  #watch: Watch;
  #stopped: Promise<void> | undefined;

  constructor(places: Places, options: EmbeddedPostgresOptions & { watch: Watch; stopping: AbortController }) {
    this.connection = connectionTo(places);
    this.#places = places;
    this.#options = { settings: options.settings ?? {}, mayCreate: false };
    this.#log = options.log;
    this.#stopping = options.stopping;
    this.#watch = options.watch;
    this.#trimming = setInterval(() => this.#trim(), LOG_CHECK_EVERY_MS).unref();
    process.on('exit', this.#stopAtExit);
    this.#supervised = this.#supervise();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#trimming);
    this.#watch.close();
    await this.#supervised;
    await endServer(this.#places.cluster);
    await removeSocketFolder(this.#places);
    process.off('exit', this.#stopAtExit);
  }

  /** Nothing can be awaited here. The server ends by itself after the signal, and the next start waits for that. */
  readonly #stopAtExit = (): void => {
    const pid = postmasterOf(this.#places.cluster);
    if (pid !== undefined) sendSignal(pid, 'SIGINT');
  };

  async #supervise(): Promise<void> {
    let delayMs = RESTART_DELAY_FIRST_MS;
    while (!this.#stopping.signal.aborted) {
      const sinceMs = performance.now();
      await this.#watch.ended;
      if (this.#stopping.signal.aborted) return;
      this.#log.warn('The embedded PostgreSQL server dropped its connections; bringing it back');
      if (performance.now() - sinceMs > HEALTHY_AFTER_MS) delayMs = RESTART_DELAY_FIRST_MS;
      delayMs = await this.#bringBack(delayMs);
    }
  }

  /** Tries until it works or the gateway stops: a full disk may have room again in an hour. Returns the next delay. */
  async #bringBack(firstDelayMs: number): Promise<number> {
    const { signal } = this.#stopping;
    const report = { progress: (message: string) => this.#log.warn(message), signal };
    for (let delayMs = firstDelayMs; ; ) {
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return delayMs;
      delayMs = Math.min(delayMs * 2, RESTART_DELAY_MS_MAX);
      try {
        const watch = await bringUp(this.#places, this.#options, report);
        await claimFor(watch, this.#places);
        this.#watch = watch;
        this.#log.warn('The embedded PostgreSQL server is back');
        return delayMs;
      } catch (error) {
        if (!signal.aborted) this.#complain(asStartError(error, this.#places.folder));
      }
    }
  }

  #complain(error: PostgresStartError): void {
    this.#log.error({ reason: error.message }, 'The embedded PostgreSQL server cannot be brought back yet');
  }

  #trim(): void {
    trimLog(this.#places.logFile).catch((error: unknown) =>
      this.#log.warn({ error }, 'postgres.log cannot be trimmed'),
    );
  }
}

export function connectionTo({ socketFolder }: Places): EmbeddedPostgres['connection'] {
  return { host: socketFolder, port: PORT, user: SUPERUSER, database: DATABASE };
}

/** A killed gateway's connection may outlive it by a moment; another gateway's does not end. */
async function claimFor(watch: Watch, { folder }: Places): Promise<void> {
  const deadlineMs = performance.now() + CLAIM_MS_MAX;
  while (!(await watch.claim())) {
    if (performance.now() > deadlineMs) {
      watch.close();
      throw new PostgresStartError(`Another Tollgate is running on the data folder ${folder}.`, {
        advice: 'Stop it, or choose another folder with TOLLGATE_DATA.',
      });
    }
    await sleep(CLAIM_POLL_MS);
  }
}
