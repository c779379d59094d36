import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { Progress, TaskOrder, TaskWork } from '../vendor.ts';
import type { UpstreamReply } from './exchange.ts';
import { failed } from './faults.ts';
import { parseObject, readBytes, type Upstream } from './http.ts';
import { stringAt } from './json.ts';
import type { Call, Wire } from './wire.ts';

/** An answer about a task, whatever its status. */
export interface TaskAnswer extends Pick<UpstreamReply, 'status' | 'headers'> {
  /** Undefined if it is no JSON object. */
  readonly body: JsonObject | undefined;
}

/** A vendor's queue, as far as it differs from others: submit once, ask after the status, read the result. */
export interface Queue<Request> extends Pick<TaskWork<Request>, 'check' | 'adopt'> {
  readonly wire: Wire;
  /** 1 where none is given. */
  perCall?(request: Request, model: string): number;
  /** What begins a task. Calls that prepare it are made here (`beforeSubmission`). */
  submission(request: Request, order: TaskOrder, upstream: Upstream): Call | Promise<Call>;
  /** All that has to be remembered of a task, out of the answer to its submission. Throws UpstreamError. */
  taskIn(answer: JsonObject, upstream: Upstream): JsonObject;
  /** Where a task is asked after. */
  statusAt(task: JsonObject, upstream: Upstream): string | URL;
  /** The vendor's words for the state of a task: still at work, or over, well or badly. */
  readonly states: Readonly<Record<string, 'running' | 'over'>>;
  /** How far a running task is and when to ask again, where the vendor says so. */
  progressIn?(answer: TaskAnswer): Omit<Extract<Progress, { state: 'running' }>, 'state'>;
  /** What became of a task that is over. */
  outcome(answer: JsonObject, task: JsonObject, upstream: Upstream): Progress | Promise<Progress>;
  /** Statuses other than of success that tell something of the task itself, and not of our key or our pace. */
  readonly telling?: readonly number[];
  /** What such an answer means; that the task is lost where nothing else is said. Throws UpstreamError where asking again may help. */
  refused?(answer: TaskAnswer): Progress;
}

/** Tasks that wait or run are often told with 202, those that are over with 200. */
const SUCCESSES: readonly number[] = [200, 202];
const ACCEPTED: readonly number[] = [...SUCCESSES, 201];
const LOST: readonly number[] = [404, 410];

export function queueWork<Request>(queue: Queue<Request>): TaskWork<Request> {
  const { wire } = queue;
  return {
    check: queue.check,
    perCall: (request, model) => queue.perCall?.(request, model) ?? 1,

    async submit(request, order, upstream) {
      const call = await queue.submission(request, order, upstream);
      const answer = await wire.json(upstream, { ...call, accepts: ACCEPTED });
      return { state: 'accepted', task: queue.taskIn(answer, upstream) };
    },

    async poll(task, upstream) {
      const answer = await askAfter(wire, upstream, queue.statusAt(task, upstream), queue.telling ?? LOST);
      if (!isSuccess(answer)) return queue.refused?.(answer) ?? failed('server', `the task is lost: ${answer.status}`);
      wire.faults.throwIfError(answer.body ?? {});
      const state = stateIn(answer.body, queue.states);
      if (state === 'running') return { state, ...queue.progressIn?.(answer) };
      return queue.outcome(answer.body ?? {}, task, upstream);
    },

    open: (path, upstream) => wire.download(upstream, path),
    ...(queue.adopt !== undefined && { adopt: queue.adopt }),
  };
}

export function isSuccess({ status }: TaskAnswer): boolean {
  return SUCCESSES.includes(status);
}

/** One look at a task. Refusals with other statuses than `telling` are faults of the call. */
export async function askAfter(
  wire: Wire,
  upstream: Upstream,
  path: string | URL,
  telling: readonly number[],
): Promise<TaskAnswer> {
  const reply = await wire.send(upstream, { path, accepts: [...SUCCESSES, ...telling] });
  const body = parseObject((await readBytes(reply)).toString('utf8'));
  return { status: reply.status, headers: reply.headers, body };
}

/** What the vendor's word for the state of a task means. A word that is not known is garbled. */
export function stateIn<State>(answer: JsonObject | undefined, states: Readonly<Record<string, State>>): State {
  const word = stringAt(answer, 'status') ?? '';
  const state = Object.hasOwn(states, word) ? states[word] : undefined;
  if (state === undefined) throw new UpstreamError('garbled', `unknown status "${word}"`);
  return state;
}
