import type { JsonObject } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { failed } from '../kit/faults.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { defined, objectAt, requiredString, stringAt } from '../kit/json.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { askAfter, isSuccess, stateIn } from '../kit/queue.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, Progress, TaskWork } from '../vendor.ts';
import { faultInWords, wire } from './wire.ts';

export const RATIOS: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4', '21:9', '9:21'];

/** What begins a generation. */
export interface Creation {
  readonly path: string;
  readonly fields: Readonly<Record<string, WireMedia>>;
  /** Sent where no unmodelled key says otherwise. */
  readonly defaults?: JsonObject;
}

/** What differs between the kinds of work; generations are one resource for all. */
export interface Modality<Request> {
  readonly asset: 'image' | 'video';
  /** Unmodelled keys that public fields decide. */
  readonly reserved: readonly string[];
  /** Throws ApiError for what the model cannot take. */
  creationOf(request: Request): Creation;
}

const STATES = { queued: 'running', dreaming: 'running', completed: 'over', failed: 'over' } as const;
const CREATED = [200, 201, 202];
const LOST = [404, 410];
/** They take the result elsewhere, answer in another way, or make something else. */
const RESERVED = ['callback_url', 'sync', 'sync_timeout', 'generation_type'];

/**
 * One result each. There is a list of generations, but nothing of ours in it: those of one job are alike, so none can be
 * adopted whose submission got no answer.
 */
export function generationWork<Request extends { readonly extra: JsonObject }>(
  work: Modality<Request>,
): TaskWork<Request> {
  return {
    check(request) {
      refuseKeys(request.extra, [...RESERVED, ...work.reserved]);
      work.creationOf(request);
    },

    perCall: () => 1,

    async submit(request, _order, upstream) {
      const { path, fields, defaults } = work.creationOf(request);
      const body = jsonWithMedia({ ...defaults, ...request.extra, model: upstream.model, ...fields });
      const answer = await wire.json(upstream, { path, body, accepts: CREATED });
      return { state: 'accepted', task: { id: requiredString(answer, 'id') } };
    },

    async poll(task, upstream) {
      const path = `/generations/${encodeURIComponent(requiredString(task, 'id'))}`;
      const answer = await askAfter(wire, upstream, path, LOST);
      if (!isSuccess(answer)) return failed('server', `the generation is lost: ${answer.status}`);
      const { body = {} } = answer;
      const state = stateIn(defined({ status: stringAt(body, 'state') }), STATES);
      return state === 'running' ? { state } : outcome(body, work.asset);
    },
  };
}

/** The link is fetched at once, without the key: how long it lives is not documented. */
function outcome(answer: JsonObject, asset: 'image' | 'video'): Progress {
  if (stringAt(answer, 'state') === 'failed') {
    const reason = stringAt(answer, 'failure_reason') ?? '';
    return failed(faultInWords(reason) ?? 'server', reason);
  }
  return { state: 'succeeded', outputs: [{ url: requiredString(objectAt(answer, 'assets'), asset) }] };
}

/** The vendor fetches media by itself, and takes them in no other way. Throws ApiError for one without an address. */
export function addressOf(media: Media, field: string): { readonly url: string } {
  if (media.url === undefined) throw unsupported(field, { oneOf: ['public addresses'] });
  return { url: media.url };
}
