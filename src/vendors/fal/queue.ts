import type { JsonObject } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { dialectOf } from '../kit/dialects.ts';
import { failed } from '../kit/faults.ts';
import type { Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import type { WireFields } from '../kit/mapping.ts';
import { askAfter, isSuccess, queueWork } from '../kit/queue.ts';
import { ownUrl } from '../kit/wire.ts';
import type { Failed, Progress, TaskOrder, TaskWork } from '../vendor.ts';
import { type Kind, resultOf } from './results.ts';
import { DIALECTS } from './terms.ts';
import { TELLING, verdictOf, wire } from './wire.ts';

/** What differs between the kinds of work; the queue is one for all. */
export interface Modality<Request> {
  readonly kind: Kind;
  /** The vendor's names for what public fields decide and the price depends on. */
  readonly priced: readonly string[];
  /** Throws ApiError for what the model cannot take. */
  inputOf(request: Request, model: string): WireFields;
  /** The field that asks for several results at once, and how many it can ask for. */
  countOf?(model: string): { readonly field: string; readonly max: number } | undefined;
}

export const STATES = { IN_QUEUE: 'running', IN_PROGRESS: 'running', COMPLETED: 'over' } as const;

/** Nothing finds a task again whose submission got no answer. */
export function queued<Request extends { readonly extra: JsonObject }>(work: Modality<Request>): TaskWork<Request> {
  return queueWork<Request>({
    wire,
    telling: TELLING,
    states: STATES,

    check(request, model) {
      const decided = { ...work.inputOf(request, model), [work.countOf?.(model)?.field ?? '']: 1 };
      // Passed on unread, it would escape the checks and the price.
      const unread = work.priced.find((name) => name in request.extra && !(name in decided));
      if (unread !== undefined) throw unsupported(unread);
    },

    perCall: (_request, model) => work.countOf?.(model)?.max ?? 1,

    submission(request, order, { model }) {
      const counted = work.countOf?.(model);
      const count = counted === undefined ? {} : { [counted.field]: order.count };
      const input = { ...request.extra, ...work.inputOf(request, model), ...count };
      return { path: `/${model}`, headers: startHeader(order), body: jsonWithMedia(input) };
    },

    taskIn: linksIn,

    statusAt: (task, upstream) => urlOf(task.statusUrl, upstream),
    refused: (answer) => verdictOf(answer, 'status'),
    outcome: (answer, task, upstream) => outcomeOf(answer, () => result(task, work.kind, upstream)),
  });
}

/** All that has to be remembered of a task. */
export function linksIn({ status_url, response_url }: JsonObject, upstream: Upstream): JsonObject {
  return {
    statusUrl: urlOf(status_url, upstream).href,
    responseUrl: urlOf(response_url, upstream).href,
  };
}

/** A run that failed reads as completed too. What its status does not name, its result does. */
export async function outcomeOf<Found extends { readonly state: string }>(
  { error, error_type: name }: JsonObject,
  read: () => Promise<Found>,
): Promise<Found | Failed> {
  const detail = JSON.stringify([name, error]);
  const fault = typeof name === 'string' ? wire.faults.ofCode(name) : undefined;
  if (fault !== undefined) return failed(fault, detail);
  const found = await read();
  return (error || name) && found.state !== 'running' && found.state !== 'failed' ? failed('server', detail) : found;
}

async function result(task: JsonObject, kind: Kind, upstream: Upstream): Promise<Progress> {
  const answer = await askAfter(wire, upstream, urlOf(task.responseUrl, upstream), TELLING);
  return isSuccess(answer) ? resultOf(answer.body, kind) : verdictOf(answer, 'result');
}

/** The vendor wants more than a second, and a whole number is the least that it can mistake. */
function startHeader({ startWithinMs }: TaskOrder): Record<string, string> {
  return { 'x-fal-request-timeout': String(Math.max(2, Math.floor(startWithinMs / 1000))) };
}

const QUEUE = 'https://queue.fal.run';
const DIRECT = 'https://fal.run';
/** Where a call is answered by its result: the vendor has a host for that. */
export function directUrl(upstream: Upstream): URL {
  const isQueue = dialectOf(upstream, DIALECTS) === 'fal' && new URL(upstream.address).origin === QUEUE;
  return new URL(`${isQueue ? DIRECT : upstream.address}/${upstream.model}`);
}

const FAL_ORIGINS: readonly string[] = [QUEUE, DIRECT, 'https://rest.fal.ai'];

export function urlOf(address: JsonObject[string] | undefined, upstream: Upstream): URL {
  return ownUrl(address, upstream, dialectOf(upstream, DIALECTS) === 'fal' ? FAL_ORIGINS : []);
}
