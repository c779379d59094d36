import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, defined, itemsAt, objectAt, requiredString, stringAt } from '../kit/json.ts';
import type { WireFields, WireMedia } from '../kit/mapping.ts';
import { queueWork } from '../kit/queue.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Progress, TaskWork } from '../vendor.ts';
import { wire } from './wire.ts';

/** What begins a task: one route for each kind of input. */
export interface Creation {
  readonly path: string;
  readonly fields: Readonly<Record<string, WireMedia>>;
  /** Sent where no unmodelled key says otherwise. */
  readonly defaults?: WireFields | undefined;
}

/** What differs between the kinds of work; tasks are one resource for all. */
export interface Modality<Request> {
  /** Unmodelled keys that public fields decide, or that cost more. */
  readonly reserved: readonly string[];
  /** Throws ApiError for what the model cannot take. */
  creationOf(request: Request, model: string): Creation;
  /** How many results a task can have; then it is told in `outputCount`. */
  countOf?(model: string): number | undefined;
}

/** The vendor updates a task no oftener. */
const POLL_MS = 5_000;

/** Nothing finds a task again whose submission got no answer: there is neither a list nor a name of our own. */
export function taskWork<Request extends { readonly extra: JsonObject }>(work: Modality<Request>): TaskWork<Request> {
  return queueWork<Request>({
    wire,

    check(request, model) {
      refuseKeys(request.extra, work.reserved);
      work.creationOf(request, model);
    },

    perCall: (_request, model) => work.countOf?.(model) ?? 1,

    submission(request, { count }, { model }) {
      const { path, fields, defaults } = work.creationOf(request, model);
      const counted = work.countOf?.(model) === undefined ? {} : { outputCount: count };
      return { path, body: jsonWithMedia({ ...defaults, ...request.extra, model, ...fields, ...counted }) };
    },

    taskIn: (answer) =>
      defined({ id: requiredString(answer, 'id'), cost: amountAt(objectAt(answer, 'estimatedCost'), 'credits') }),

    statusAt: (task) => `/v1/tasks/${encodeURIComponent(requiredString(task, 'id'))}`,

    // Held back by the account's own limit is accepted all the same.
    states: {
      PENDING: 'running',
      THROTTLED: 'running',
      RUNNING: 'running',
      SUCCEEDED: 'over',
      FAILED: 'over',
      CANCELLED: 'over',
    },

    progressIn: ({ body }) => {
      const fraction = amountAt(body, 'progress');
      return { ...(fraction !== undefined && { percent: fraction * 100 }), pollAfterMs: POLL_MS };
    },

    outcome,
  });
}

function outcome(answer: JsonObject, task: JsonObject): Progress {
  if (stringAt(answer, 'status') !== 'SUCCEEDED') {
    const { status, failureCode, failure } = answer;
    const fault = wire.faults.ofCode(stringAt(answer, 'failureCode') ?? '');
    return failed(fault ?? 'server', JSON.stringify({ status, failureCode, failure }));
  }
  const outputs = itemsAt(answer, 'output').flatMap((url) => (typeof url === 'string' && url !== '' ? [{ url }] : []));
  if (outputs.length === 0) throw new UpstreamError('garbled', 'a task that succeeded without an output');
  const credits = amountAt(objectAt(answer, 'cost'), 'credits') ?? amountAt(task, 'cost');
  return { state: 'succeeded', outputs, usage: { credits } };
}
