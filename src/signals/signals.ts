import { Counter, gauge, Histogram, type Metric } from './families.ts';

/** A request that has ended, however. */
export interface EndedRequest {
  /** The contract's pattern, never the address that was sent. */
  readonly route: string;
  readonly method: string;
  readonly model: string | undefined;
  readonly status: number;
  readonly code: string | undefined;
  readonly seconds: number;
  /** Until the first byte of a streamed answer. */
  readonly firstByteSeconds: number | undefined;
}

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * Counters of this process, for `/metrics` and OTLP. There is one only where either is on. Every label has a bounded
 * set of values: patterns of routes, codes, configured models and upstreams.
 */
export class Signals {
  readonly #isModel: (id: string) => boolean;
  #inFlight = 0;

  readonly #requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'Requests that have ended. code is the public error code, empty for a success; a stream that broke off has one beside its status 200.',
    labelNames: ['method', 'route', 'model', 'status', 'code'],
  });
  readonly #seconds = new Histogram(
    {
      name: 'tollgate_request_duration_seconds',
      help: 'From the first byte of a request to the last of its answer.',
      labelNames: ['method', 'route', 'model'],
    },
    REQUEST_SECONDS,
  );
  readonly #firstByteSeconds = new Histogram(
    {
      name: 'tollgate_stream_first_byte_seconds',
      help: 'From the first byte of a request to the first of its streamed answer.',
      labelNames: ['route', 'model'],
    },
    REQUEST_SECONDS,
  );
  readonly #attempts = new Counter({
    name: 'tollgate_upstream_attempts_total',
    help: 'Attempts at an upstream by outcome: ok, canceled, or the fault.',
    labelNames: ['upstream', 'upstream_model', 'outcome'],
  });
  readonly #attemptSeconds = new Histogram(
    {
      name: 'tollgate_upstream_duration_seconds',
      help: 'How long an attempt took: to the whole answer, or to the first piece of a stream.',
      labelNames: ['upstream', 'upstream_model'],
    },
    REQUEST_SECONDS,
  );
  readonly #jobs = new Counter({
    name: 'tollgate_jobs_ended_total',
    help: 'Jobs that this process has ended.',
    labelNames: ['kind', 'state'],
  });
  readonly #dutyFailures = new Counter({
    name: 'tollgate_duty_failures_total',
    help: 'Rounds of work that is done by the clock which failed; each is tried again.',
    labelNames: ['duty'],
  });
  /** When each duty last succeeded, or else began to be done. */
  readonly #dutySuccesses = new Map<string, number>();

  /** `isModel` says whether a public model is configured: a caller may name any, and each name would be a series. */
  constructor(isModel: (id: string) => boolean) {
    this.#isModel = isModel;
  }

  get metrics(): readonly Metric[] {
    return [
      this.#requests,
      this.#seconds,
      this.#firstByteSeconds,
      gauge('tollgate_requests_in_flight', 'Requests whose answer has not ended.', () => this.#inFlight),
      this.#attempts,
      this.#attemptSeconds,
      this.#jobs,
      this.#dutyFailures,
      {
        kind: 'gauge',
        family: {
          name: 'tollgate_duty_success_age_seconds',
          help: 'How long ago this process last did a duty, or began to.',
          labelNames: ['duty'],
        },
        read: () =>
          [...this.#dutySuccesses].map(([duty, atMs]) => ({
            labels: [duty],
            value: (performance.now() - atMs) / 1000,
          })),
      },
    ];
  }

  requestBegan(): void {
    this.#inFlight++;
  }

  requestEnded({ route, method, model, status, code = '', seconds, firstByteSeconds }: EndedRequest): void {
    this.#inFlight--;
    const known = this.modelLabel(model);
    this.#requests.add(1, [method, route, known, statusText(status), code]);
    this.#seconds.observe(seconds, [method, route, known]);
    if (firstByteSeconds !== undefined) this.#firstByteSeconds.observe(firstByteSeconds, [route, known]);
  }

  attemptEnded(upstreamId: string, upstreamModel: string, outcome: string, seconds: number): void {
    this.#attempts.add(1, [upstreamId, upstreamModel, outcome]);
    if (outcome !== 'canceled') this.#attemptSeconds.observe(seconds, [upstreamId, upstreamModel]);
  }

  jobEnded(kind: string, state: string): void {
    this.#jobs.add(1, [kind, state]);
  }

  /** From now on it is known, also while it has neither succeeded nor failed. */
  dutyBegan(duty: string): void {
    this.dutySucceeded(duty);
    this.#dutyFailures.add(0, [duty]);
  }

  dutySucceeded(duty: string): void {
    this.#dutySuccesses.set(duty, performance.now());
  }

  dutyFailed(duty: string): void {
    this.#dutyFailures.add(1, [duty]);
  }

  modelLabel(model: string | undefined): string {
    if (model === undefined) return '';
    return this.#isModel(model) ? model : 'other';
  }
}

const statusTexts: string[] = [];

/** Made once for each status: a number's text is a new string otherwise. */
function statusText(status: number): string {
  let text = statusTexts[status];
  if (text === undefined) {
    text = String(status);
    statusTexts[status] = text;
  }
  return text;
}
