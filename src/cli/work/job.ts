import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, Interrupted, type Invocation, UsageError } from '../command.ts';
import { EXIT, exitCodeOfJob } from '../exit-codes.ts';
import type { Connection } from '../gateway/connection.ts';
import { endingOf, fileName, saveStream } from '../gateway/files.ts';
import { pictureProtocol, pictureSequence } from '../gateway/picture.ts';
import { ProgressBar } from '../gateway/progress.ts';

const LOOK_MS = { first: 300, most: 3_000, growth: 1.4 };
/** Looks in a row that may fail before a wait is given up: a gateway that is restarted is back by then. */
const FAILED_LOOKS_MAX = 10;

export interface Job {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'queue_expired' | 'canceled';
  readonly kind: string;
  readonly model: string;
  readonly progress: number;
  readonly created_at: number;
  readonly finished_at?: number;
  readonly error_code?: string;
  readonly error?: string;
  readonly usage?: { readonly credits: number };
}

interface Asset {
  readonly ordinal: number;
  readonly kind: string;
  readonly mime_type: string;
  readonly url: string;
}

/** Looks at a job until it has ended. An interruption and a timeout leave the job as it is, and say how to find it. */
export async function waitForJob(connection: Connection, id: string, options: Invocation['options']): Promise<Job> {
  const deadline = performance.now() + timeoutMs(options.timeout);
  const bar = new ProgressBar(options.json === undefined);
  let failedLooks = 0;
  try {
    for (let lookMs = LOOK_MS.first; ; lookMs = Math.min(lookMs * LOOK_MS.growth, LOOK_MS.most)) {
      const job = await readJob(connection, id).catch((error: unknown) => {
        if (!isPassing(error) || ++failedLooks >= FAILED_LOOKS_MAX) throw error;
        return undefined;
      });
      if (job !== undefined) {
        failedLooks = 0;
        bar.draw(job.progress, `${job.status} ${id}`);
        if (job.status !== 'queued' && job.status !== 'running') return job;
      }
      if (performance.now() > deadline) throw timedOut(id);
      await pause(lookMs, undefined, { signal: connection.signal });
    }
  } catch (error) {
    throw connection.signal.aborted ? new Interrupted(whereIs(id)) : error;
  } finally {
    bar.clear();
  }
}

function readJob(connection: Connection, id: string): Promise<Job> {
  return connection.get<Job>(`/v1/jobs/${encodeURIComponent(id)}`);
}

/** What a wait outlives: a gateway that cannot be reached for a moment, or that asks for patience. */
function isPassing(error: unknown): boolean {
  return error instanceof CommandError && (error.exitCode === EXIT.unreachable || error.exitCode === EXIT.busy);
}

function timeoutMs(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const seconds = Number(text);
  if (!(seconds >= 0)) throw new UsageError(`--timeout takes seconds, not "${text}".`);
  return seconds * 1000;
}

function whereIs(id: string): string {
  return `${id} goes on. "tollgate wait ${id}" waits for it again, "tollgate download ${id}" fetches what it has made.`;
}

function timedOut(id: string): CommandError {
  return new CommandError(`The job has not ended in this time. ${whereIs(id)}`, { exitCode: EXIT.timeout });
}

/** Throws for a job that ended without a result. */
export function requireSuccess(job: Job): void {
  if (job.status === 'succeeded') return;
  const message = `${job.id}: ${job.error ?? `The job is ${job.status}.`}`;
  throw new CommandError(message, {
    exitCode: exitCodeOfJob(job.error_code ?? job.status),
    code: job.error_code ?? job.status,
  });
}

/** Saves every result of a job. Resolves to the names of the files. */
export async function downloadJob(
  connection: Connection,
  id: string,
  { options, environment }: Invocation,
): Promise<readonly string[]> {
  const { items } = await connection.get<{ items: readonly Asset[] }>(`/v1/jobs/${encodeURIComponent(id)}/assets`);
  const results = items.filter(({ kind }) => kind !== 'thumbnail');
  const names: string[] = [];
  for (const [at, { url, mime_type }] of results.entries()) {
    const path = fileName(options.output ?? `${id}.${endingOf(mime_type)}`, at);
    const answer = await connection.send('GET', url, {});
    if (answer.status !== 200) throw new CommandError(`The link to a result answered ${answer.status}.`);
    await saveStream(answer.body, path);
    names.push(path);
    if (options.json === undefined && path !== '-') showPicture(path, mime_type, environment);
  }
  return names;
}

/** Where the terminal can, the picture stands above the name of its file. */
function showPicture(path: string, mimeType: string, environment: Invocation['environment']): void {
  const protocol = process.stdout.isTTY ? pictureProtocol(environment) : undefined;
  if (protocol === undefined || !mimeType.startsWith('image/')) return;
  const sequence = pictureSequence(protocol, readFileSync(path), mimeType);
  if (sequence !== undefined) process.stdout.write(sequence);
}
