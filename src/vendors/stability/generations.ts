import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../limits.ts';
import { failed } from '../kit/faults.ts';
import { formWithMedia } from '../kit/forms.ts';
import { parseObject, readBytes, type Upstream } from '../kit/http.ts';
import { requiredString, stringAt } from '../kit/json.ts';
import { between, type WireFields } from '../kit/mapping.ts';
import { contentTypeOf } from '../kit/wire.ts';
import type { Progress, Submitted, TaskWork } from '../vendor.ts';
import { FILTERED, wire } from './wire.ts';

/** What is made, and by which names the vendor hands it out. */
export interface Medium {
  /** Holds the base64 of an answer that is made at once. */
  readonly key: 'image' | 'audio';
  /** Where tasks are asked after. */
  readonly results: string;
}

/** The vendor refuses, or locks out, a client that asks after a task more often. */
const POLL_AFTER_MS = 10_000;

/** The vendor takes 0 for a seed of its own choice. */
export const takeSeed = between('seed', 1, 4_294_967_294);

/**
 * A result that is made while the line is open. There is no task, and so nothing to ask after or to find again. Every request
 * is a form, also one without files.
 */
export async function makeNow(
  upstream: Upstream,
  path: string,
  fields: WireFields,
  { key }: Medium,
): Promise<Submitted> {
  const call = { path, body: { form: formWithMedia(fields) } };
  const { json, blobs } = await wire.jsonWithBlobs(upstream, call, key, UPSTREAM_PICTURES_BYTES_MAX);
  const reason = stringAt(json, 'finish_reason') ?? 'SUCCESS';
  const [data] = blobs;
  if (data === undefined || data.length === 0 || reason !== 'SUCCESS') {
    throw new UpstreamError('garbled', `an answer without "${key}" (${reason})`);
  }
  return { state: 'succeeded', outputs: [{ data }] };
}

/** The few operations that answer with the id of a task. */
export async function submitTask(upstream: Upstream, path: string, fields: WireFields): Promise<Submitted> {
  const answer = await wire.json(upstream, { path, body: { form: formWithMedia(fields) }, accepts: [200, 202] });
  return { state: 'accepted', task: { id: requiredString(answer, 'id') } };
}

/** Tasks are told by status: 202 is at work, 200 is the result itself, which is read when it is collected. */
export function results<Request>(medium: Medium): Required<Pick<TaskWork<Request>, 'poll' | 'open'>> {
  const accept = `${medium.key}/*`;
  return {
    async poll(task, upstream) {
      try {
        return await progressOf(task, upstream, medium);
      } catch (error) {
        return failureOf(error);
      }
    },
    open: async (path, upstream) => (await wire.send(upstream, { path, accept })).body,
  };
}

async function progressOf(task: JsonObject, upstream: Upstream, { key, results: root }: Medium): Promise<Progress> {
  const path = `${root}/${encodeURIComponent(requiredString(task, 'id'))}`;
  const reply = await wire.send(upstream, { path, accept: `${key}/*`, accepts: [200, 202] });
  if (reply.status === 202) {
    await readBytes(reply);
    return { state: 'running', pollAfterMs: POLL_AFTER_MS };
  }
  if (!contentTypeOf(reply).startsWith(`${key}/`)) {
    const document = parseObject((await readBytes(reply)).toString('utf8'));
    wire.faults.throwIfError(document ?? {});
    throw new UpstreamError('garbled', `a result was asked for and "${contentTypeOf(reply)}" came`);
  }
  // The first piece is enough to know that there is a result. Stopping there closes the connection.
  for await (const _piece of reply.body) {
    if (reply.headers['finish-reason'] === FILTERED) return failed('policy', FILTERED);
    return { state: 'succeeded', outputs: [{ path }] };
  }
  throw new UpstreamError('garbled', 'an empty result');
}

/** A refusal that is about the task, which asking again would not change; any other is of the call. */
function failureOf(error: unknown): Progress {
  if (!(error instanceof UpstreamError)) throw error;
  if (error.status === 404 || error.status === 410) return failed('server', `the task is lost: ${error.status}`);
  if (error.fault === 'policy' || error.fault === 'client') return failed(error.fault, error.message);
  throw error;
}
