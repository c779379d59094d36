import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/index.ts';
import { isRefusal } from '../../billing/index.ts';
import type { Endpoint } from '../../configuration/index.ts';
import type { ErrorCode } from '../../errors.ts';
import { createJob, type Job } from '../../jobs/index.ts';
import type { JsonObject } from '../../json.ts';
import { discardInputs, type InputRules, storeInput } from '../../objects/index.ts';
import { type Form, fingerprint, type MediaRequest, type MediaSource, type SentBody } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import { retryCountOf } from '../edge/client-library.ts';
import { filesOf, readForm, valuesOf } from '../edge/form.ts';
import { idempotencyKeyOf } from '../edge/idempotency.ts';
import { preferredWaitSeconds } from '../edge/prefer.ts';
import { modelOfForm, traceModel } from '../edge/request-line.ts';
import { jobSchema, jobView } from '../views/jobs.ts';
import { callContext } from './call.ts';

/** What any call that makes a job can be refused with, beside what its own fields can. */
export const CREATE_CODES = [
  'missing_model',
  'model_not_found',
  'no_capable_provider',
  'no_available_provider',
  'insufficient_credits',
  'precheck_failed',
  'media_open_job_capacity',
  'idempotency_conflict',
  'admission_in_progress',
  'invalid_idempotency_key',
  'unsupported_parameter',
  'conflicting_parameters',
  'unsupported_media_url_scheme',
  'invalid_media_url',
  'invalid_input_url',
  'url_in_extra',
  'job_service_unavailable',
  'request_canceled',
] as const satisfies readonly ErrorCode[];

/** 200 is the ended job, where `Prefer: wait` asked for it. */
export const JOB_ANSWERS = { 200: jobSchema, 202: jobSchema };

export interface CreateCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

export interface MediaOrder {
  readonly endpoint: Endpoint;
  readonly media: MediaRequest<MediaSource>;
  /** Asked for only when there is an Idempotency-Key. */
  readonly fingerprint: () => Buffer;
}

/** The answer to a create call of the plain interface: the job, or the ended job where the caller prefers to wait for it. */
export async function answerWithJob(deps: HttpDeps, call: CreateCall, order: MediaOrder): Promise<FastifyReply> {
  const { request, reply } = call;
  const { signal } = callContext(request, reply);
  const job = await jobFor(deps, call, order);
  reply.header('cache-control', 'private, no-store');
  const seconds = preferredWaitSeconds(request);
  // The request keeps its slot: it is in flight like any other, which bounds the waits of one key.
  const latest =
    seconds === undefined || deps.jobWatches.isFull ? job : await deps.jobWatches.wait(job, 1000 * seconds, signal);
  const isApplied = seconds !== undefined && latest.finishedAt !== null;
  if (isApplied) reply.header('preference-applied', `wait=${seconds}`);
  return reply.code(isApplied ? 200 : 202).send(jobView(latest));
}

type OrderKey = Parameters<typeof createJob>[2]['key'];

/** The key that the caller has sent. */
function sentKey(request: FastifyRequest, { fingerprint: print }: MediaOrder): OrderKey {
  const key = idempotencyKeyOf(request);
  return key === undefined ? undefined : { key, fingerprint: print() };
}

/** No header can hold it, so that no caller's own key is the same. */
const DERIVED = '\u21bb';

/** Without one, a derived key: made from the request itself, where a client library counts its retries. */
export function derivedKey(request: FastifyRequest, order: MediaOrder): OrderKey {
  const sent = sentKey(request, order);
  const retries = retryCountOf(request);
  if (sent !== undefined || retries === undefined) return sent;
  const print = order.fingerprint();
  const derivedOf = retries === 0 ? 'first attempt' : 'retry';
  return { key: `${DERIVED}${print.toString('hex')}`, fingerprint: print, derivedOf };
}

/** Makes the job, or finds the one that an earlier request with the same key has made. */
export async function jobFor(
  deps: HttpDeps,
  { request, reply, caller }: CreateCall,
  order: MediaOrder,
  key: OrderKey = sentKey(request, order),
): Promise<Job> {
  const { requestId, signal, trace } = callContext(request, reply);
  const { job, isReplay, reservationId } = await createJob(deps, caller, {
    endpoint: order.endpoint,
    requestId,
    signal,
    traceparent: trace.span?.traceparent,
    request: order.media,
    key,
  });
  trace.jobId = job.id;
  trace.reservationId = reservationId;
  if (isReplay) reply.header('idempotent-replayed', 'true');
  return job;
}

/** The fingerprint of a JSON body, made when it is needed. */
export function sentJson({ request }: CreateCall, json: JsonObject): () => Buffer {
  return () => Buffer.from(fingerprint(request.method, routeOf(request), { json }), 'hex');
}

/** The same of a form. */
export function sentForm({ request }: CreateCall, form: SentForm): () => Buffer {
  return () => Buffer.from(fingerprint(request.method, routeOf(request), { form }), 'hex');
}

function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? '';
}

/** Parts as they are fingerprinted. */
type SentForm = Extract<SentBody, { form: unknown }>['form'];

export interface FileRules {
  readonly formBytesMax: number;
  /** What a file under this name must be. Throws ApiError where none is wanted. `count` have come under it before. */
  readonly rulesFor: (name: string, count: number) => InputRules;
}

/**
 * Reads a form and puts its files into the store as they come. What follows is done with it; if that fails, the files go
 * again.
 */
export async function withStoredForm<Result>(
  deps: HttpDeps,
  call: CreateCall,
  { formBytesMax, rulesFor }: FileRules,
  work: (form: Form, sent: SentForm) => Promise<Result>,
): Promise<Result> {
  // Refused before anything is stored.
  idempotencyKeyOf(call.request);
  const { signal } = callContext(call.request, call.reply);
  const keys: string[] = [];
  const counts = new Map<string, number>();
  try {
    const form = await readForm(call.request, {
      bytesMax: formBytesMax,
      tooLarge: 'body_too_large',
      take: async (name, _fileName, body) => {
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        const digest = createHash('sha256');
        const { accountId } = call.caller;
        const stored = await storeInput(deps, accountId, hashed(body, digest), rulesFor(name, count), signal);
        keys.push(stored.key);
        return { source: { from: 'upload', ...stored } as const, sha256: digest.digest('hex') };
      },
    });
    const values = valuesOf(form);
    traceModel(call.request, modelOfForm(values));
    const sent = form.map((part) => [part.name, 'value' in part ? part.value : { sha256: part.file.sha256 }] as const);
    const files = filesOf(form).map(({ name, file }) => [name, file.source] as const);
    return await work({ values, files }, sent);
  } catch (error) {
    if (isRefusal(error)) await discardInputs(deps, keys);
    throw error;
  }
}

async function* hashed(body: AsyncIterable<Buffer>, digest: ReturnType<typeof createHash>): AsyncIterable<Buffer> {
  for await (const piece of body) {
    digest.update(piece);
    yield piece;
  }
}
