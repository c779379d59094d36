import { z } from 'zod';
import { systemClock } from '../../../src/clock.ts';
import type { JsonObject } from '../../../src/json.ts';
import { type FieldSupport, unsupported } from '../../../src/unsupported.ts';
import type { Upstream } from '../../../src/vendors/kit/http.ts';
import type { Output, Progress, Submitted, TaskOrder, TaskWork } from '../../../src/vendors/vendor.ts';
import { type FailureCounts, type Faults, faultDue, faultsOf, plain, requestedFault } from './faults.ts';
import { digest } from './random.ts';
import { type Made, type Piece, pieceSchema } from './studio/piece.ts';
import type { Studio } from './studio/studio.ts';

/** One kind of media: what it refuses, and what a request asks for. */
export interface Kind<Request> {
  /** Throws ApiError `unsupported_parameter`. */
  check(request: Request): void;
  perCall(request: Request): number;
  /** Reads what came with the request and keeps of it, small, what the result will show. */
  plan(request: Request, order: TaskOrder): Promise<Piece>;
}

/**
 * All that makes the result is in the task, so that it can be asked after in another process and after a restart, and
 * is found under any order that is looked for.
 */
const taskSchema = z.object({
  order: z.string(),
  count: z.int(),
  startedAtMs: z.number(),
  delayMs: z.number(),
  end: z.enum(['made', 'garbled', 'policy']),
  piece: pieceSchema,
});
type Task = z.output<typeof taskSchema>;

const PERCENT_RUNNING_MAX = 99;
const SEED_MAX = 2 ** 52;

interface RequestOfAnyKind {
  readonly extra: JsonObject;
}

export function taskWork<Request extends RequestOfAnyKind>(
  kind: Kind<Request>,
  failures: FailureCounts,
  studio: Studio,
): TaskWork<Request> {
  const accept = async (request: Request, order: TaskOrder, end: Task['end']): Promise<Submitted> => {
    const piece = await kind.plan(request, order);
    if (end === 'made') studio.look(order.id, piece);
    const times = { startedAtMs: systemClock.nowMs(), delayMs: faultsIn(request)?.delayMs ?? 0 };
    const task: Task = { order: order.id, count: order.count, ...times, end, piece };
    return { state: 'accepted', task };
  };
  return {
    check(request) {
      kind.check(request);
      faultsIn(request);
    },
    perCall: (request) => kind.perCall(request),
    async submit(request, order, upstream) {
      upstream.signal.throwIfAborted();
      const fault = faultDue(faultsIn(request), upstream, failures, () => JSON.stringify(request, withoutUrls));
      const end = fault ?? 'made';
      if (end === 'made' || end === 'garbled' || end === 'policy') return accept(request, order, end);
      throw requestedFault(end, `the request asked for the fault "${end}"`);
    },
    async poll(task) {
      return progressOf(taskSchema.parse(task), studio);
    },
    async adopt(request, order, upstream: Upstream) {
      upstream.signal.throwIfAborted();
      const faults = faultsIn(request);
      // A refusal leaves nothing behind. A request that is to fail only a few times may have been through with that.
      const fault = faults?.times === undefined ? faults?.fault : undefined;
      if (fault === 'rate' || fault === 'server') return undefined;
      // An answer that never comes is what the request is there to try.
      if (faults?.fault === 'timeout') return { state: 'unknown' };
      return accept(request, order, fault === 'garbled' || fault === 'policy' ? fault : 'made');
    },
  };
}

/** A link may be a new one at each attempt of the same request. */
export function withoutUrls(key: string, value: unknown): unknown {
  return key === 'url' ? undefined : value;
}

export function faultsIn({ extra }: RequestOfAnyKind): Faults | undefined {
  return faultsOf(plain(extra, ['sandbox', 'extra']));
}

function progressOf({ order, count, startedAtMs, delayMs, end, piece }: Task, studio: Studio): Progress {
  const waited = delayMs === 0 ? 1 : Math.min(1, Math.max(0, (systemClock.nowMs() - startedAtMs) / delayMs));
  const report = end === 'made' ? studio.look(order, piece) : undefined;
  if (report?.state === 'failed') return { state: 'failed', code: 'upstream_failed', detail: report.detail };
  if (waited < 1 || report?.state === 'running') {
    const part = Math.min(waited, report?.state === 'running' ? report.part : 1);
    return { state: 'running', percent: Math.floor(part * PERCENT_RUNNING_MAX) };
  }
  const reason = `the request asked for the fault "${end}"`;
  if (end === 'policy') return { state: 'failed', code: 'content_rejected', detail: reason };
  const garbled = Array.from({ length: count }, (): Output => ({ data: Buffer.from(`No medium: ${reason}.\n`) }));
  return { state: 'succeeded', outputs: report?.made.map(outputOf) ?? garbled };
}

function outputOf({ data, isThumbnail }: Made): Output {
  return { data: Buffer.from(data.buffer, data.byteOffset, data.byteLength), isThumbnail };
}

/** For `check`: what this model cannot do. */
export function refuse(field: string, support?: FieldSupport): never {
  throw unsupported(field, support);
}

export function refuseOutside(field: string, value: number | undefined, min: number, max: number): void {
  if (value !== undefined && (value < min || value > max)) refuse(field, { from: min, to: max });
}

/** What decides a result: the seed that was given, or one that the order gives. Results of one call count on from it. */
export function seedOf(
  { seed, n }: { seed: number | undefined; n: number },
  order: TaskOrder,
  perCall: number,
): number {
  const own = Number.parseInt(digest(order.id).slice(0, 7), 16);
  if (seed === undefined) return own;
  // Calls that share one request must not bring the same results twice.
  return n > perCall ? seed + own : seed;
}

/** Results count on from the seed, and a number that cannot be counted on from would give the same one again. */
export function checkSeed({ seed }: { readonly seed: number | undefined }): void {
  if (seed !== undefined && Math.abs(seed) > SEED_MAX) refuse('seed', { from: -SEED_MAX, to: SEED_MAX });
}
