import type { Asset, Job } from './contract.ts';
import { JobError, TollgateError } from './errors.ts';
import { randomKey } from './form.ts';
import { type Media, mediaOf } from './media.ts';
import { pause, pollDelayMs } from './retry.ts';
import type { CallOptions, Transport } from './transport.ts';

/** What a job has made: at least one thing, with a link that works for 15 minutes. */
export interface Outcome {
  readonly job: Job;
  readonly assets: readonly [Asset, ...Asset[]];
}

export interface WaitOptions extends CallOptions {
  /** Called with the job when its status or its progress has changed. */
  readonly onProgress?: ((job: Job) => void) | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Calls with the same key make one job, whenever they are made. Without it, each call has a key of its own. */
  readonly idempotencyKey?: string | undefined;
}

export interface JobFilter {
  readonly status?: Job['status'] | undefined;
  readonly kind?: Job['kind'] | undefined;
  readonly model?: string | undefined;
  /** How many one request brings; the loop goes on behind them. */
  readonly limit?: number | undefined;
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}

/** A restart of the gateway is sat out: about half a minute of back-off. */
const POLL_RETRIES = 6;
/** Seconds; below the idle timeouts of common proxies. */
const PREFERRED_WAIT = 25;
/** A request that waits keeps one of the key's slots, which are few; beyond these, jobs are polled. */
const WAITING_REQUESTS_MAX = 4;

export class Jobs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#transport.json('GET', `/v1/jobs/${encodeURIComponent(id)}`, options);
  }

  /** Newest first, page by page as the loop goes on. */
  async *list(filter: JobFilter = {}, options: CallOptions = {}): AsyncGenerator<Job> {
    const wanted = Object.entries(filter).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    for (let after: string | undefined; ; ) {
      const query = new URLSearchParams([...wanted, ...(after === undefined ? [] : [['after', after]])]);
      const page: Page<Job> = await this.#transport.json('GET', `/v1/jobs?${query}`, options);
      yield* page.data;
      after = page.data.at(-1)?.id;
      if (!page.has_more || after === undefined) return;
    }
  }

  /** Polls with jittered back-off until the job has ended. Throws a `JobError` where it ended without a result. */
  async wait(id: string, options: WaitOptions = {}): Promise<Outcome> {
    const polling = { ...options, maxRetries: options.maxRetries ?? POLL_RETRIES };
    const report = changeReporter(options.onProgress);
    for (let poll = 0; ; poll++) {
      const job = await this.get(id, polling);
      report(job);
      if (isTerminal(job)) return this.outcomeOf(job, polling);
      await pause(pollDelayMs(poll, Math.random()), options.signal);
    }
  }

  /** Fresh links to what a job has made. */
  async assets(id: string, options: CallOptions = {}): Promise<readonly Asset[]> {
    const path = `/v1/jobs/${encodeURIComponent(id)}/assets`;
    const { items } = await this.#transport.json<{ readonly items: readonly Asset[] }>('GET', path, options);
    return items;
  }

  /** Of a job that has ended. */
  async outcomeOf(job: Job, options: CallOptions): Promise<Outcome> {
    if (job.status !== 'succeeded') throw new JobError(job);
    const [first, ...others] = await this.assets(job.id, options);
    if (first === undefined)
      throw new TollgateError(`The job ${job.id} has no result.`, { code: 'job_asset_not_ready' });
    return { job, assets: [first, ...others] };
  }
}

/** One kind of work that is done by jobs. */
export class JobWork {
  readonly #transport: Transport;
  readonly #jobs: Jobs;
  #waitingRequests = 0;

  constructor(transport: Transport, jobs: Jobs) {
    this.#transport = transport;
    this.#jobs = jobs;
  }

  create(path: string, json: unknown, options: CreateOptions, prefer?: string): Promise<Job> {
    const { idempotencyKey = randomKey(), headers } = options;
    const all = { ...headers, prefer, 'idempotency-key': idempotencyKey };
    return this.#transport.json('POST', path, { ...options, json, headers: all, isRepeatable: true });
  }

  async createAndWait(path: string, json: unknown, options: CreateOptions & WaitOptions): Promise<Outcome> {
    const mayWait = options.onProgress === undefined && this.#waitingRequests < WAITING_REQUESTS_MAX;
    const job = mayWait ? await this.#createWaiting(path, json, options) : await this.create(path, json, options);
    return isTerminal(job) && mayWait ? this.#jobs.outcomeOf(job, options) : this.#jobs.wait(job.id, options);
  }

  /** The gateway is asked to answer with the ended job, which saves the polls of short ones. */
  async #createWaiting(path: string, json: unknown, options: CreateOptions): Promise<Job> {
    this.#waitingRequests++;
    try {
      return await this.create(path, json, options, `wait=${PREFERRED_WAIT}`);
    } finally {
      this.#waitingRequests--;
    }
  }
}

export function downloadOf(transport: Transport, { url }: Pick<Asset, 'url'>, options: CallOptions): Promise<Media> {
  return transport.get(url, options).then((response) => mediaOf(response, options.signal));
}

function isTerminal({ status }: Job): boolean {
  return status !== 'queued' && status !== 'running';
}

function changeReporter(onProgress: WaitOptions['onProgress']): (job: Job) => void {
  let last: string | undefined;
  return (job) => {
    const state = `${job.status} ${job.progress}`;
    if (state !== last) onProgress?.(job);
    last = state;
  };
}
