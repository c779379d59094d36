import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import type { Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, objectAt, objectsAt, requiredString, stringAt } from '../kit/json.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { askAfter, isSuccess, stateIn } from '../kit/queue.ts';
import type { Call } from '../kit/wire.ts';
import type { Failed, Output, Progress, Submitted, Succeeded } from '../vendor.ts';
import { wire } from './wire.ts';

const TASKS = '/api/v1/tasks';
/** The cheapest request that is refused without the key. */
export const LAST_TASK = `${TASKS}?page_no=1&page_size=1`;
/** Without it a task is refused: the vendor makes neither clips nor these pictures while a line is open. */
const AS_TASK = { 'x-dashscope-async': 'enable' };
/** Of pictures and clips alike. */
export const SEED_MAX = 2 ** 31 - 1;
export const NEGATIVE_CHARS_MAX = 500;
const LOST: readonly number[] = [404, 410];

type Fields = Readonly<Record<string, WireMedia>>;

/** A body has two halves: what is worked on, by the names of `inputs`, and everything else. */
export function callFor(path: string, model: string, fields: Fields, inputs: readonly string[]): Call {
  const entries = Object.entries(fields);
  const input = Object.fromEntries(entries.filter(([name]) => inputs.includes(name)));
  const parameters = Object.fromEntries(entries.filter(([name]) => !inputs.includes(name)));
  return { path, body: jsonWithMedia({ model, input, parameters }) };
}

/**
 * A task has no name of its client's, and the list of tasks does not show what was asked for: a submission without an answer
 * is not found again.
 */
export async function submitTask(call: Call, upstream: Upstream): Promise<Submitted> {
  const answer = await wire.json(upstream, { ...call, headers: AS_TASK });
  return { state: 'accepted', task: { id: requiredString(objectAt(answer, 'output'), 'task_id') } };
}

const STATES = {
  PENDING: 'running',
  RUNNING: 'running',
  SUSPENDED: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'failed',
  // What the vendor says of an id that it never gave, or more than a day ago.
  UNKNOWN: 'lost',
} as const;

export async function pollTask(task: JsonObject, upstream: Upstream): Promise<Progress> {
  const path = `${TASKS}/${encodeURIComponent(requiredString(task, 'id'))}`;
  const answer = await askAfter(wire, upstream, path, LOST);
  if (!isSuccess(answer)) return failed('server', `the task is lost: ${answer.status}`);
  const body = answer.body ?? {};
  wire.faults.throwIfError(body);
  const output = objectAt(body, 'output');
  const status = stringAt(output, 'task_status') ?? '';
  switch (stateIn<(typeof STATES)[keyof typeof STATES]>({ status }, STATES)) {
    case 'running':
      return { state: 'running' };
    case 'lost':
      return failed('server', 'the task is lost: the vendor does not know it');
    case 'failed':
      return failureOf({ status, ...errorOf(output) });
    case 'succeeded':
      return outcomeOf(body);
  }
}

/** Links live for a day and are fetched right after this, without the key. Throws UpstreamError. */
export function resultOf(answer: JsonObject): Succeeded {
  const links = linksIn(objectAt(answer, 'output'));
  const outputs: Output[] = links.flatMap((url) => (url === undefined || url === '' ? [] : [{ url }]));
  if (outputs.length === 0) throw new UpstreamError('garbled', 'an answer without results');
  const usage = objectAt(answer, 'usage');
  const seconds = amountAt(usage, 'video_duration') ?? amountAt(usage, 'duration');
  return { state: 'succeeded', outputs, ...(seconds !== undefined && { usage: { seconds } }) };
}

/** Some pictures of a task that went well may have failed; where all did, the first says why. */
function outcomeOf(answer: JsonObject): Progress {
  const results = objectsAt(objectAt(answer, 'output'), 'results');
  const error = results.map(errorOf).find(({ code }) => code !== '');
  return error !== undefined && results.every((result) => !stringAt(result, 'url'))
    ? failureOf(error)
    : resultOf(answer);
}

/** Each generation of models has a place of its own. */
function linksIn(output: JsonObject | undefined): (string | undefined)[] {
  return [
    stringAt(output, 'video_url'),
    ...objectsAt(output, 'results').map((result) => stringAt(result, 'url')),
    ...objectsAt(output, 'choices').flatMap((choice) =>
      objectsAt(objectAt(choice, 'message'), 'content').map((part) => stringAt(part, 'image')),
    ),
  ];
}

function errorOf(output: JsonObject | undefined): { readonly code: string; readonly message: string } {
  return { code: stringAt(output, 'code') ?? '', message: stringAt(output, 'message') ?? '' };
}

function failureOf(error: JsonObject): Failed {
  return failed(wire.faults.ofBody(error) ?? 'server', JSON.stringify(error));
}
