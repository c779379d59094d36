import { createHash } from 'node:crypto';
import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { withQuery } from '../kit/forms.ts';
import type { Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { listAt, objectAt, objectsAt, requiredString, stringAt } from '../kit/json.ts';
import {
  type FieldMap,
  firstMatch,
  type ModelFamily,
  mapFields,
  type PublicNames,
  type WireFields,
} from '../kit/mapping.ts';
import { queueWork } from '../kit/queue.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import { type Call, ownUrl } from '../kit/wire.ts';
import type { Adopted, TaskOrder, TaskWork } from '../vendor.ts';
import { type Kind, resultOf, STATES } from './results.ts';
import { withUploads } from './uploads.ts';
import { wire } from './wire.ts';

/** Models of one maker that take the same. */
export interface Family<Request> extends ModelFamily<Request> {
  /** Against surprising defaults: sent where neither the request nor its unmodelled keys say otherwise. */
  readonly defaults?: WireFields;
  /** What must be in the input, each with the public name of the field that is missing. */
  readonly needs?: Readonly<Record<string, string>>;
  /** Throws ApiError for what the model does not take together. */
  readonly refuseTogether?: (request: Request) => void;
  /** How many results `num_outputs` can ask for; one, and the field is not known, where it is absent. */
  readonly countMax?: number;
}

/** The first that fits a model's name counts. */
export type Families<Request> = readonly (readonly [RegExp, Family<Request>])[];

/** What differs between the kinds of work; predictions are one for all. */
export interface Modality<Request> {
  readonly kind: Kind;
  readonly names: PublicNames<Request>;
  readonly families: Families<Request>;
  /** Of a model that is not known: all is asked for under the names that the vendor's models mostly have. */
  readonly usual: FieldMap<Request>;
  /** The vendor's names for what public fields decide. */
  readonly reserved: readonly string[];
  /** Of families that say nothing else. */
  readonly needs?: Readonly<Record<string, string>>;
}

interface AnyRequest {
  readonly seed: number | undefined;
  readonly extra: JsonObject;
}

const TEXTS: readonly string[] = ['prompt', 'lyrics'];

export function predictions<Request extends AnyRequest>(work: Modality<Request>): TaskWork<Request> {
  const familyOf = (model: string): Family<Request> =>
    firstMatch(work.families, model) ?? { takes: work.usual, needs: {} };
  /**
   * Whether a prediction can be told from all others by its seed. The vendor takes no name from its client, but a model that
   * takes a seed is sent one of this call where the request has none, and a list of predictions shows their inputs. A model
   * that is not known gets none: the vendor drops in silence what a model does not take.
   */
  const isMarked = ({ seed }: Request, model: string) =>
    seed === undefined && firstMatch(work.families, model)?.takes.seed !== undefined;

  return queueWork<Request>({
    wire,
    states: STATES,

    check(request, model) {
      refuseKeys(request.extra, [...work.reserved, 'num_outputs']);
      const family = familyOf(model);
      const input = mapFields(request, family, work.names);
      for (const [name, field] of Object.entries(family.needs ?? work.needs ?? {})) {
        refuse(field, !(name in input), { atLeast: 1, ...(TEXTS.includes(field) && { unit: 'character' }) });
      }
      family.refuseTogether?.(request);
    },

    perCall: (_request, model) => familyOf(model).countMax ?? 1,

    submission(request, order, upstream) {
      const family = familyOf(upstream.model);
      const count = family.countMax === undefined ? {} : { num_outputs: order.count };
      const mark = isMarked(request, upstream.model) ? { seed: markOf(order) } : {};
      const fields = mapFields(request, family, work.names);
      return callFor({ ...family.defaults, ...request.extra, ...fields, ...mark, ...count }, upstream);
    },

    taskIn: (answer) => ({ id: requiredString(answer, 'id') }),
    statusAt: predictionPath,
    outcome: (answer, _task, upstream) => resultOf(answer, work.kind, upstream),

    async adopt(request, order, upstream) {
      if (!isMarked(request, upstream.model) || order.calledAt === undefined) return UNKNOWN;
      return findMarked(markOf(order), order.calledAt.getTime(), upstream);
    },
  });
}

/** The call that begins a prediction. Official models go by name, others by version, deployments by theirs. */
export async function callFor(input: WireFields, upstream: Upstream): Promise<Call> {
  const { path, version } = placeOf(upstream.model);
  return { path, body: jsonWithMedia({ version, input: await withUploads(input, upstream) }) };
}

function placeOf(model: string): { readonly path: string; readonly version?: string } {
  if (/^deployments\/[^/:]+\/[^/:]+$/.test(model)) return { path: `/${model}/predictions` };
  if (/^[^/:]+\/[^/:]+$/.test(model)) return { path: `/models/${model}/predictions` };
  return { path: '/predictions', version: model };
}

export function predictionPath(task: JsonObject): string {
  return `/predictions/${encodeURIComponent(requiredString(task, 'id'))}`;
}

/** 31 bits, which every model takes. */
function markOf({ id }: TaskOrder): number {
  return createHash('sha256').update(id).digest().readUInt32BE() >>> 1;
}

const UNKNOWN = { state: 'unknown' } as const;
const PAGES_MAX = 10;
/** How far the vendor's clock and ours may be apart. */
const SKEW_MS = 300_000;

/** The list is newest first. What it no longer shows the input of may be the one that is looked for. */
async function findMarked(seed: number, calledAtMs: number, upstream: Upstream): Promise<Adopted> {
  const sinceMs = calledAtMs - SKEW_MS;
  let path: Call['path'] = withQuery('/predictions', { created_after: new Date(sinceMs).toISOString() });
  let absent: Adopted;
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await wire.json(upstream, { path });
    if (listAt(answer, 'results') === undefined) throw new UpstreamError('garbled', 'a list without results');
    for (const prediction of objectsAt(answer, 'results')) {
      if (Date.parse(stringAt(prediction, 'created_at') ?? '') < sinceMs) return absent;
      const input = objectAt(prediction, 'input');
      if (input?.seed === seed) return { state: 'accepted', task: { id: requiredString(prediction, 'id') } };
      if (prediction.data_removed === true || input === undefined) absent = UNKNOWN;
    }
    const next = stringAt(answer, 'next');
    if (next === undefined) return absent;
    path = ownUrl(next, upstream);
  }
  return UNKNOWN;
}
