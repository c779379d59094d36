import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { Upstream } from '../kit/http.ts';
import { objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { wire } from './wire.ts';

const PAGE_TASKS = 100;
const PAGES_MAX = 10;

/**
 * Looks for the task of this name in the list of the tasks that were submitted at `path`, the newest first. Undefined: it never
 * arrived. Throws UpstreamError where the list cannot tell: it is longer than what is read of it, or shows no names at all.
 */
export async function findTask(path: string, name: string, upstream: Upstream): Promise<JsonObject | undefined> {
  let [count, namedCount] = [0, 0];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const tasks = tasksIn(await wire.json(upstream, { path: `${path}?pageNum=${page}&pageSize=${PAGE_TASKS}` }));
    const found = tasks.find((task) => nameOf(task) === name);
    if (found !== undefined) return found;
    count += tasks.length;
    namedCount += tasks.filter((task) => nameOf(task) !== undefined).length;
    if (tasks.length >= PAGE_TASKS) continue;
    if (count > 0 && namedCount === 0) throw new UpstreamError('server', 'a list of tasks without names');
    return undefined;
  }
  throw new UpstreamError('server', 'the list of tasks is longer than what is read of it');
}

/** Throws UpstreamError where the answer is no list, which proves nothing. */
export function tasksIn(answer: JsonObject): JsonObject[] {
  if (!Array.isArray(answer.data)) throw new UpstreamError('garbled', 'a list of tasks without tasks');
  return objectsAt(answer, 'data');
}

function nameOf(task: JsonObject): string | undefined {
  return stringAt(objectAt(task, 'task_info'), 'external_task_id');
}
