import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { openBlob } from '../kit/blob-stream.ts';
import { failed } from '../kit/faults.ts';
import { readBytes, type Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { objectAt, objectsAt, requiredString, stringAt } from '../kit/json.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Call } from '../kit/wire.ts';
import type { Media, Progress, TaskWork } from '../vendor.ts';
import { instanceOf, parametersOf, RESERVED } from './video-request.ts';
import { wire } from './wire.ts';

/** The vendor's own advice. */
const POLL_AFTER_MS = 10_000;
/** Of a task that is not known any more. */
const LOST: readonly number[] = [404, 410];
/** gRPC's number of INVALID_ARGUMENT: errors of operations have no other. */
const INVALID_ARGUMENT = 3;

/**
 * Clips by Veo. No bucket is named, so that a clip comes as base64 inside the answer to a poll. It is only found there by the
 * poll, and streamed into the store by a second call. Nothing finds a task again whose submission got no answer.
 */
export const video: TaskWork<VideoRequest<Media>> = {
  check(request) {
    refuseKeys(request.extra, RESERVED);
    parametersOf(request);
    instanceOf(request);
  },

  perCall: () => 1,

  async submit(request, _order, upstream) {
    const { model, address } = upstream;
    const body = jsonWithMedia({ instances: [instanceOf(request)], parameters: parametersOf(request) }, 'base64');
    const answer = await wire.json(upstream, { path: actionOf(model, 'predictLongRunning'), body });
    const location = locationIn(address);
    const task = { id: requiredString(answer, 'name'), model, ...(location !== undefined && { location }) };
    return { state: 'accepted', task };
  },

  async poll(task, upstream) {
    const path = operationAt(task, upstream);
    const reply = await wire.send(upstream, { ...fetchCall(path), accepts: [200, ...LOST] });
    if (LOST.includes(reply.status)) {
      return failed('server', `the operation is lost: ${(await readBytes(reply)).toString('utf8')}`);
    }
    const answer = await openBlob(reply, CLIP);
    if ('json' in answer) return progressIn(answer.json);
    await answer.close();
    return { state: 'succeeded', outputs: [{ path }] };
  },

  async open(path, upstream) {
    const answer = await openBlob(await wire.send(upstream, fetchCall(path)), CLIP);
    if ('json' in answer) throw new UpstreamError('garbled', 'an operation that is done has no clip any more');
    return answer.pieces;
  },
};

/** Under which a clip lies. */
const CLIP = 'bytesBase64Encoded';

function actionOf(model: string, action: string): string {
  return `/publishers/google/models/${encodeURIComponent(model)}:${action}`;
}

/** Operations are asked after where they were begun: an address that was moved since does not know them. */
function operationAt(task: JsonObject, { model, address }: Upstream): string {
  const location = stringAt(task, 'location');
  if (location !== locationIn(address)) {
    throw new UpstreamError('config', `the operation was begun in ${location}, which the address no longer names`);
  }
  const name = requiredString(task, 'id');
  const action = actionOf(stringAt(task, 'model') ?? model, 'fetchPredictOperation');
  return `${location === undefined ? placeIn(name) : ''}${action}?operationName=${encodeURIComponent(name)}`;
}

/** In express mode the address names no project, and the name of the operation does: it is asked after there. */
function placeIn(name: string): string {
  const place = /^projects\/[\w.:-]+\/locations\/[\w-]+(?=\/publishers\/)/.exec(name)?.[0];
  return place === undefined ? '' : `/${place}`;
}

function locationIn(address: string): string | undefined {
  return /\/locations\/([^/]+)/.exec(address)?.[1];
}

/** The vendor takes the name in a body. */
function fetchCall(path: string): Call {
  const [action = '', query] = path.split('?');
  return { path: action, body: { json: { operationName: new URLSearchParams(query).get('operationName') } } };
}

function progressIn(operation: JsonObject): Progress {
  if (operation.done !== true) {
    wire.faults.throwIfError(operation);
    requiredString(operation, 'name');
    return { state: 'running', pollAfterMs: POLL_AFTER_MS };
  }
  const error = objectAt(operation, 'error');
  if (error !== undefined) {
    const fault = wire.faults.ofBody({ error }) ?? (error.code === INVALID_ARGUMENT ? 'client' : 'server');
    return failed(fault, JSON.stringify(error));
  }
  const response = objectAt(operation, 'response');
  if (response === undefined) throw new UpstreamError('garbled', 'an operation that is done without a response');
  // Moderation takes clips out of a response; what is left of it then is nothing.
  if (objectsAt(response, 'videos').length === 0) return failed('policy', JSON.stringify(response));
  return failed('server', 'the clip is in a bucket of the operator (gs://), and not in the answer as was asked for');
}
