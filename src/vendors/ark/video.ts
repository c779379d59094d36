import type { JsonObject } from '../../json.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { failed } from '../kit/faults.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, countAt, objectAt, requiredString, stringAt } from '../kit/json.ts';
import { queueWork } from '../kit/queue.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, Output, Progress } from '../vendor.ts';
import { contentOf } from './video-content.ts';
import { familyOf, optionsOf } from './video-models.ts';
import { wire } from './wire.ts';

type Request = VideoRequest<Media>;

const TASKS = '/contents/generations/tasks';
/** The least that the vendor takes. Its own two days would let a clip begin, and cost, long after its job was given up. */
const EXPIRES_AFTER_SECONDS = 3600;

/** What public fields decide, what costs more or waits for days, and what would take the result elsewhere. */
const RESERVED: readonly string[] = [
  ...['content', 'duration', 'frames', 'ratio', 'draft', 'tools', 'priority', 'service_tier'],
  ...['callback_url', 'execution_expires_after'],
];

/** The cheapest request that is refused without the key. */
export const LAST_TASK = `${TASKS}?page_num=1&page_size=1`;

/**
 * A task has no name of its client's by which its list would show it: a submission without an answer is not found again.
 * `safety_identifier` is not one. It stands for an end user, and one that is new with every call would blind the vendor's moderation.
 */
export const video = queueWork<Request>({
  wire,

  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    optionsOf(request, model);
    contentOf(request, familyOf(model));
  },

  submission: (request, { id }, { model }) => {
    const body = {
      ...request.extra,
      model,
      content: contentOf(request, familyOf(model)),
      ...optionsOf(request, model),
      execution_expires_after: EXPIRES_AFTER_SECONDS,
    };
    return { path: TASKS, headers: { 'x-client-request-id': id }, body: jsonWithMedia(body) };
  },

  taskIn: (answer) => ({ id: requiredString(answer, 'id') }),
  statusAt: (task) => `${TASKS}/${encodeURIComponent(requiredString(task, 'id'))}`,
  states: {
    queued: 'running',
    running: 'running',
    succeeded: 'over',
    failed: 'over',
    cancelled: 'over',
    canceled: 'over',
    expired: 'over',
  },
  outcome,
});

/** The links live for a day and are fetched at once, without the key. */
function outcome(answer: JsonObject): Progress {
  const status = stringAt(answer, 'status') ?? '';
  if (status !== 'succeeded') {
    const error = objectAt(answer, 'error');
    const fault = wire.faults.ofCode(stringAt(error, 'code') ?? '') ?? 'server';
    return failed(fault, JSON.stringify({ status, error }));
  }
  const content = objectAt(answer, 'content');
  const clip: Output = { url: requiredString(content, 'video_url') };
  const lastFrame = stringAt(content, 'last_frame_url') ?? '';
  return {
    state: 'succeeded',
    outputs: lastFrame === '' ? [clip] : [clip, { url: lastFrame, isThumbnail: true }],
    usage: {
      outputTokens: countAt(objectAt(answer, 'usage'), 'completion_tokens'),
      seconds: amountAt(answer, 'duration'),
    },
  };
}
