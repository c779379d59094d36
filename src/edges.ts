import { LedgerExport } from './exports/index.ts';
import { createHttpServer, type HttpDeps } from './http/index.ts';
import { Engine, type JobDeps } from './jobs/index.ts';
import { verdicts } from './ledger/index.ts';
import { JobLoop, startDuties } from './worker/index.ts';

/** What moves the gateway: requests, and the clock. */
export interface Edges {
  /** Where it listens. */
  readonly url: string;
  /** Drains both: readiness goes first, then requests and jobs that run get so long to end. Never fails. */
  stop(drainMs: number): Promise<void>;
}

/** Starts duties, job loop and HTTP server, as far as the process's role has them; all of them or none. */
export async function startEdges(deps: HttpDeps, jobDeps: JobDeps): Promise<Edges> {
  const { role, port, host, stopDelayMs, booksEveryMs } = deps.config;
  const { processId } = deps.bus;
  const ledgerExport = new LedgerExport({ ...deps, processId });
  const booksCheck = new verdicts.BooksCheck({ ...deps, processId, everyMs: booksEveryMs });
  const stopDuties = startDuties({ ...deps, ledgerExport, booksCheck });
  const jobLoop = role === 'serve' ? undefined : new JobLoop({ ...deps, engine: new Engine(jobDeps) });
  const server = await createHttpServer(deps);
  const stop = async (drainMs: number, delayMs = 0) => {
    const deadlineMs = performance.now() + delayMs + drainMs;
    // Callers who wait for a job get half of the drain: in a deployment of one process nothing goes on meanwhile.
    const waits = setTimeout(() => deps.jobWatches.stop(), delayMs + drainMs / 2);
    // Jobs are handed over while callers are still served: another process goes on with them.
    await Promise.allSettled([server.stop(delayMs, drainMs), jobLoop?.stop(drainMs)]);
    clearTimeout(waits);
    // Not before: callers wait for transcriptions.
    await deps.transcriptions.stop(Math.max(0, deadlineMs - performance.now())).catch(() => undefined);
    await stopDuties().catch(() => undefined);
  };
  try {
    const url = await server.listen(port, host);
    // A process that only works has no callers who must first learn that it is going.
    return { url, stop: (drainMs) => stop(drainMs, role === 'work' ? 0 : stopDelayMs) };
  } catch (error) {
    await stop(0);
    throw error;
  }
}
