import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { failed } from '../kit/faults.ts';
import { withQuery } from '../kit/forms.ts';
import type { Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, objectAt, requiredString, stringAt } from '../kit/json.ts';
import { askAfter, isSuccess, stateIn } from '../kit/queue.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, Progress, TaskWork } from '../vendor.ts';
import { clipFields, contentListFields } from './video-fields.ts';
import { codeAt, codeIn, wire } from './wire.ts';

type Request = VideoRequest<Media>;

/** Two versions of the queue, told apart by the model; a task remembers its own. */
const SECOND_VERSION = /^MiniMax-H\d/i;

/** What public fields decide, and what would take the result elsewhere. */
const RESERVED = [
  ...['duration', 'resolution', 'ratio', 'content', 'callback_url', 'aigc_watermark'],
  ...['first_frame_image', 'last_frame_image', 'subject_reference'],
];

/** The words of both versions. The documents write `Fail`, the vendor's own program `Failed`. */
const STATES: Readonly<Record<string, 'running' | 'succeeded' | 'failed'>> = {
  ...{ Preparing: 'running', Queueing: 'running', Processing: 'running', queued: 'running', running: 'running' },
  ...{ Success: 'succeeded', succeeded: 'succeeded' },
  ...{ Fail: 'failed', Failed: 'failed', failed: 'failed', cancelled: 'failed', expired: 'failed' },
};

/** Nothing finds a task again whose submission got no answer. */
export const video: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    inputOf(request, model);
  },

  perCall: () => 1,

  async submit(request, _order, upstream) {
    const version = versionOf(upstream.model);
    const body = jsonWithMedia({
      // Otherwise the vendor writes the prompt anew.
      ...(version === 'v1' && { prompt_optimizer: false }),
      ...request.extra,
      ...inputOf(request, upstream.model),
      model: upstream.model,
    });
    const answer = await wire.json(upstream, { path: `/${version}/video_generation`, body });
    return { state: 'accepted', task: { id: idAt(answer, 'task_id'), version } };
  },

  async poll(task, upstream) {
    const answer = await askAfter(wire, upstream, statusPath(task), LOST);
    if (!isSuccess(answer)) return failed('server', `the task is lost: ${answer.status}`);
    const body = answer.body ?? {};
    const state = objectAt(body, 'task') ?? body;
    // A task that failed may tell why in the same place as a call that did.
    if (stringAt(state, 'status') === undefined) {
      if (codeIn(body) === BAD_PARAMETER) return failed('server', 'the task is lost: its id is not known');
      wire.faults.throwIfError(body);
    }
    switch (stateIn(state, STATES)) {
      case 'running':
        return { state: 'running' };
      case 'failed':
        return failure(state);
      case 'succeeded':
        return task.version === 'v2' ? result(state) : storedResult(body, upstream);
    }
  },
};

const LOST = [404, 410];
/** The id is all that is sent when a task is asked after. */
const BAD_PARAMETER = '2013';

function versionOf(model: string): 'v1' | 'v2' {
  return SECOND_VERSION.test(model) ? 'v2' : 'v1';
}

function inputOf(request: Request, model: string) {
  return versionOf(model) === 'v2' ? contentListFields(request) : clipFields(request, model);
}

function statusPath(task: JsonObject): string {
  const id = requiredString(task, 'id');
  if (task.version === 'v2') return `/v2/query/video_generation/${encodeURIComponent(id)}`;
  return withQuery('/v1/query/video_generation', { task_id: id });
}

/** A number that was rounded when it was read would name another task or file. */
function idAt(answer: JsonObject, key: string): string {
  const id = answer[key];
  if (typeof id !== 'number') return requiredString(answer, key);
  if (!Number.isSafeInteger(id)) throw new UpstreamError('garbled', `"${key}" is too large for a number`);
  return String(id);
}

/** The second version names its own error, the first the code of the answer. */
function failure(state: JsonObject): Progress {
  const error = objectAt(state, 'error');
  const code = codeIn(state) ?? codeAt(error, 'code') ?? '';
  const detail = JSON.stringify({ status: state.status, base_resp: state.base_resp, error });
  const fault = wire.faults.ofBody({ ...state, error: { type: code, message: stringAt(error, 'message') ?? null } });
  return failed(fault ?? 'server', detail);
}

/** The link dies, and is fetched right after this, without the key. */
function result(state: JsonObject): Progress {
  const url = requiredString(objectAt(state, 'content'), 'url');
  const usage = objectAt(state, 'usage');
  const seconds = amountAt(usage, 'total_seconds') ?? amountAt(usage, 'output_seconds');
  return { state: 'succeeded', outputs: [{ url }], usage: { seconds } };
}

/** A clip is a file of the vendor's, whose address is asked for: each time a fresh one. */
async function storedResult(answer: JsonObject, upstream: Upstream): Promise<Progress> {
  const path = withQuery('/v1/files/retrieve', { file_id: idAt(answer, 'file_id') });
  const file = objectAt(await wire.json(upstream, { path }), 'file');
  return { state: 'succeeded', outputs: [{ url: requiredString(file, 'download_url') }] };
}
