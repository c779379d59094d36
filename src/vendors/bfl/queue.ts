import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, defined, objectAt, requiredString, stringAt } from '../kit/json.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { queueWork, type TaskAnswer } from '../kit/queue.ts';
import type { Progress, TaskWork } from '../vendor.ts';
import { statusUrl, statusUrlIn } from './hosts.ts';
import { wire } from './wire.ts';

/** What differs between the kinds of work; the queue is one for all. */
interface Modality<Request> extends Pick<TaskWork<Request>, 'check'> {
  fieldsOf(request: Request, model: string): Readonly<Record<string, WireMedia>>;
}

const UNKNOWN = 'Task not found';

/** Nothing finds a task again whose submission got no answer. */
export function queued<Request>(work: Modality<Request>): TaskWork<Request> {
  return queueWork<Request>({
    wire,
    check: (request, model) => work.check(request, model),

    submission: (request, _order, { model }) => ({
      path: `/v1/${model}`,
      body: jsonWithMedia(work.fieldsOf(request, model), 'base64'),
    }),

    taskIn: (answer, upstream) =>
      defined({
        id: requiredString(answer, 'id'),
        statusUrl: statusUrlIn(answer, upstream).href,
        cost: amountAt(answer, 'cost'),
      }),

    statusAt: (task, upstream) => statusUrl(task.statusUrl, upstream),

    states: {
      Pending: 'running',
      Ready: 'over',
      'Request Moderated': 'over',
      'Content Moderated': 'over',
      Error: 'over',
      Failed: 'over',
      [UNKNOWN]: 'over',
    },

    progressIn: ({ body }) => {
      const fraction = amountAt(body, 'progress');
      return fraction === undefined ? {} : { percent: fraction * 100 };
    },

    outcome,
    refused: ({ status, body = {} }: TaskAnswer) => {
      if (stringAt(body, 'status') === UNKNOWN) throw unknownTask();
      return failed('server', `the task is lost: ${status}`);
    },
  });
}

/** A region may not know a task yet that another took a moment ago: a garbled answer is asked for again a few times. */
function unknownTask(): UpstreamError {
  return new UpstreamError('garbled', 'the task is not known');
}

function outcome(answer: JsonObject, task: JsonObject): Progress {
  const status = stringAt(answer, 'status') ?? '';
  if (status === UNKNOWN) throw unknownTask();
  if (status !== 'Ready') {
    const detail = JSON.stringify({ status, details: answer.details });
    return failed(wire.faults.ofCode(status) ?? 'server', detail);
  }
  // The link lives for ten minutes and is fetched at once, without the key.
  const outputs = [{ url: requiredString(objectAt(answer, 'result'), 'sample') }];
  return { state: 'succeeded', outputs, usage: { credits: amountAt(answer, 'cost') ?? amountAt(task, 'cost') } };
}
