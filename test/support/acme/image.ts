import type { JsonObject } from '../../../src/json.ts';
import type { ImageRequest } from '../../../src/schemas/index.ts';
import { failed } from '../../../src/vendors/kit/faults.ts';
import { jsonWithMedia } from '../../../src/vendors/kit/inline-media.ts';
import { amountAt, objectAt, objectsAt, requiredString, stringAt } from '../../../src/vendors/kit/json.ts';
import { as, type FieldMap, mapFields, oneOf, single, type WireFields } from '../../../src/vendors/kit/mapping.ts';
import { IMAGE_NAMES } from '../../../src/vendors/kit/public-names.ts';
import { queueWork } from '../../../src/vendors/kit/queue.ts';
import type { Media, Progress } from '../../../src/vendors/vendor.ts';
import { wire } from './wire.ts';

type Request = ImageRequest<Media>;

const TAKES: FieldMap<Request> = {
  prompt: as('text'),
  aspectRatio: oneOf('shape', ['1:1', '16:9']),
  seed: as('seed'),
  referenceImages: single('start_from'),
};

export const image = queueWork<Request>({
  wire,
  check: (request) => void fieldsOf(request),
  submission: (request, _order, { model }) => ({
    path: '/v1/pictures',
    body: jsonWithMedia({ ...request.extra, model, ...fieldsOf(request) }),
  }),
  taskIn: (answer) => ({ id: requiredString(answer, 'id') }),
  statusAt: (task) => `/v1/pictures/${encodeURIComponent(requiredString(task, 'id'))}`,
  states: { waiting: 'running', drawing: 'running', done: 'over', failed: 'over' },
  progressIn: ({ body }) => ({
    percent: (amountAt(body, 'done') ?? 0) * 100,
    pollAfterMs: (amountAt(body, 'ask_again_after') ?? 0) * 1000,
  }),
  outcome,
});

/** Throws ApiError for a field that no model of this vendor takes. */
function fieldsOf(request: Request): WireFields {
  return mapFields(request, { takes: TAKES }, IMAGE_NAMES);
}

/** Pictures lie behind the key. */
function outcome(answer: JsonObject): Progress {
  const code = stringAt(objectAt(answer, 'failure'), 'code');
  if (code !== undefined) return failed(wire.faults.ofCode(code) ?? 'server', code);
  const outputs = objectsAt(answer, 'pictures').map((picture) => ({ path: requiredString(picture, 'path') }));
  return { state: 'succeeded', outputs, usage: { credits: amountAt(answer, 'credits') } };
}
