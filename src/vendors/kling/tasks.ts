import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import type { Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { objectAt, objectsAt, requiredString, stringAt } from '../kit/json.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { askAfter, stateIn } from '../kit/queue.ts';
import type { Output, Progress, TaskOrder, TaskWork } from '../vendor.ts';
import { findTask, tasksIn } from './task-list.ts';
import { wire } from './wire.ts';

export interface Submission {
  readonly path: string;
  readonly body: Readonly<Record<string, WireMedia>>;
  /** The result with the vendor's mark is the one to deliver: it is made beside the plain one, and has a link of its own. */
  readonly isMarked?: boolean;
}

/** What differs between pictures and clips. */
export interface Queue<Request> extends Pick<TaskWork<Request>, 'check' | 'perCall'> {
  submission(request: Request, order: TaskOrder, model: string): Submission;
}

/** Tasks of the second flow are asked after in one place, those of the first where each was submitted. */
const TASKS = '/tasks';
const FIRST = '/v1/';
const FIRST_USUAL = '/v1/videos/text2video';

const STATES = {
  submitted: 'running',
  processing: 'running',
  // The first flow's word, then the second's.
  succeed: 'over',
  succeeded: 'over',
  failed: 'over',
} as const;

/** Each task is given the name of its call, by which a submission without an answer is found. */
export function tasksOf<Request>(queue: Queue<Request>): TaskWork<Request> {
  return {
    check: queue.check,
    perCall: queue.perCall,

    async submit(request, order, upstream) {
      const submission = queue.submission(request, order, upstream.model);
      const { path, body } = submission;
      const answer = await wire.json(upstream, { path, body: jsonWithMedia(body, 'base64') });
      return { state: 'accepted', task: taskIn(objectAt(answer, 'data'), submission) };
    },

    async poll(task, upstream) {
      const isSecond = task.path === TASKS;
      try {
        return isSecond ? await secondProgress(task, upstream) : await firstProgress(task, upstream);
      } catch (error) {
        // A task that the vendor refuses to know is lost: its place was right when it was accepted.
        const isLost = error instanceof UpstreamError && error.fault === 'config' && (error.status ?? 0) >= 400;
        if (isLost) return failed('server', `the task is lost: ${error.message}`);
        throw error;
      }
    },

    async adopt(request, order, upstream) {
      const submission = queue.submission(request, order, upstream.model);
      const { path } = submission;
      const found = path.startsWith(FIRST)
        ? await findTask(path, order.id, upstream)
        : await secondByName(order.id, upstream);
      return found && { state: 'accepted', task: taskIn(found, submission) };
    },
  };
}

function taskIn(data: JsonObject | undefined, { path, isMarked }: Submission): JsonObject {
  const mark = isMarked === true ? { isMarked } : {};
  if (path.startsWith(FIRST)) return { id: requiredString(data, 'task_id'), path, ...mark };
  return { id: stringAt(data, 'id') ?? requiredString(data, 'task_id'), path: TASKS, ...mark };
}

async function firstProgress(task: JsonObject, upstream: Upstream): Promise<Progress> {
  const id = requiredString(task, 'id');
  const path = stringAt(task, 'path') ?? FIRST_USUAL;
  const answer = await read(`${path}/${encodeURIComponent(id)}`, upstream);
  const data = objectAt(answer, 'data');
  const status = stringAt(data, 'task_status') ?? '';
  if (stateIn({ status }, STATES) === 'running') return { state: 'running' };
  if (status === 'failed') return failedTask(stringAt(data, 'task_status_msg'));
  const result = objectAt(data, 'task_result');
  const clips = objectsAt(result, 'videos');
  const pictures = objectsAt(result, 'images').toSorted((one, other) => Number(one.index) - Number(other.index));
  return succeeded(task, [...clips, ...pictures], numberIn(data?.final_unit_deduction));
}

async function secondProgress(task: JsonObject, upstream: Upstream): Promise<Progress> {
  const id = requiredString(task, 'id');
  const answer = await read(`${TASKS}?task_ids=${encodeURIComponent(id)}`, upstream);
  const data = objectsAt(answer, 'data').find((each) => each.id === id);
  if (stateIn(data, STATES) === 'running') return { state: 'running' };
  if (data?.status === 'failed') return failedTask(stringAt(data, 'message'));
  const amounts = objectsAt(data, 'billing').map(({ amount }) => numberIn(amount) ?? 0);
  const credits = amounts.length === 0 ? undefined : amounts.reduce((sum, amount) => sum + amount);
  return succeeded(task, objectsAt(data, 'outputs'), credits);
}

async function secondByName(name: string, upstream: Upstream): Promise<JsonObject | undefined> {
  const answer = await wire.json(upstream, { path: `${TASKS}?external_task_ids=${encodeURIComponent(name)}` });
  return tasksIn(answer).find((task) => task.external_id === name);
}

async function read(path: string, upstream: Upstream): Promise<JsonObject> {
  const { body = {} } = await askAfter(wire, upstream, path, []);
  wire.faults.throwIfError(body);
  return body;
}

/** Words are all that the vendor gives; a task that its rules stopped is known by them. */
function failedTask(words = ''): Progress {
  const isPolicy = /risk control|sensitive|violat|content (security|policy)|moderation|prohibited/i.test(words);
  return failed(isPolicy ? 'policy' : 'server', words);
}

/** Links live for thirty days and are fetched at once, without the credential. */
function succeeded({ isMarked }: JsonObject, results: readonly JsonObject[], credits: number | undefined): Progress {
  const outputs: Output[] = results.map((result) => {
    const marked = isMarked === true ? stringAt(result, 'watermark_url') : undefined;
    return { url: marked ?? requiredString(result, 'url') };
  });
  if (outputs.length === 0) throw new UpstreamError('garbled', 'a task without results');
  return { state: 'succeeded', outputs, usage: { credits, seconds: numberIn(results[0]?.duration) } };
}

/** Amounts come as numbers or as digits. */
function numberIn(value: JsonObject[string] | undefined): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : undefined;
}
