import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { Upstream } from './http.ts';
import { objectsAt } from './json.ts';
import type { Wire } from './wire.ts';

/** A vendor's list of an account's tasks, which repeats the name that each was given by its client. */
export interface TaskList {
  /** Pages are counted from 1. */
  readonly path: (page: number, size: number) => string;
  /** The key of the answer under which the tasks are. */
  readonly key: string;
  readonly nameIn: (task: JsonObject) => string | undefined;
}

const PAGE_TASKS = 100;
const PAGES_MAX = 10;

/**
 * Looks through the list for the task of this name. Undefined: it never arrived. Throws UpstreamError where the list cannot
 * tell: it is longer than what is read of it, or none of its tasks has a name at all.
 */
export async function findTask(
  wire: Wire,
  upstream: Upstream,
  list: TaskList,
  name: string,
): Promise<JsonObject | undefined> {
  let [count, named] = [0, 0];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const answer = await wire.json(upstream, { path: list.path(page, PAGE_TASKS) });
    if (!Array.isArray(answer[list.key])) throw new UpstreamError('garbled', 'a list of tasks without tasks');
    const tasks = objectsAt(answer, list.key);
    const found = tasks.find((task) => list.nameIn(task) === name);
    if (found !== undefined) return found;
    count += tasks.length;
    named += tasks.filter((task) => list.nameIn(task) !== undefined).length;
    if (tasks.length >= PAGE_TASKS) continue;
    if (count > 0 && named === 0) throw new UpstreamError('server', 'a list of tasks without names');
    return undefined;
  }
  throw new UpstreamError('server', 'the list of tasks is longer than what is read of it');
}
