import type { FastifyReply } from 'fastify';
import { ApiError, errorEnvelope } from '../../errors.ts';
import { getAssets, type Job, type LinkedAsset } from '../../jobs/index.ts';
import { SILENT_WAIT_MS, WHITE_SPACE_EVERY_MS } from '../../limits.ts';
import type { ImageRequest, MediaSource } from '../../schemas/index.ts';
import type { HttpDeps } from '../deps.ts';
import { countsRetries } from '../edge/client-library.ts';
import { sendEvents } from '../edge/events.ts';
import { base64Of, StreamedJson } from '../edge/streamed-json.ts';
import { linkedPicturesView, type MadePictures, pictureDocument, pictureEvents } from '../views/facade-images.ts';
import { callContext } from './call.ts';
import { type CreateCall, derivedKey, jobFor, type MediaOrder } from './create-call.ts';
import { errorWithJob, hasEnded, requireSucceeded, watchUntil } from './facade-wait.ts';

export interface PictureOrder extends MediaOrder {
  readonly endpoint: 'images' | 'image_edits';
  readonly media: ImageRequest<MediaSource>;
}

/** How the pictures are to be answered. */
export interface PictureForm {
  readonly isStreamed: boolean;
  readonly asLinks: boolean;
}

/** A request that waits for its pictures. */
interface PictureWait extends CreateCall {
  readonly job: Job;
  readonly signal: AbortSignal;
  readonly order: PictureOrder;
  readonly untilMs: number;
}

/**
 * Makes the job, waits for it and answers with its pictures. Status codes are real for half a minute; from then on white
 * space keeps the connection alive, and a failure is what the caller's library takes for one.
 */
export async function answerWithPictures(
  deps: HttpDeps,
  call: CreateCall,
  order: PictureOrder,
  form: PictureForm,
): Promise<FastifyReply> {
  const { request, reply } = call;
  // Before there is a job: a request that cannot wait is refused as one too many.
  if (deps.jobWatches.isFull) throw new ApiError('too_many_concurrent_requests');
  const { signal } = callContext(request, reply);
  const begunMs = deps.clock.nowMs();
  const job = await jobFor(deps, call, order, derivedKey(request, order));
  reply.headers({ 'x-job-id': job.id, 'cache-control': 'private, no-store' });
  const wait = { ...call, job, signal, order, untilMs: begunMs + deps.config.imageWaitMs };
  if (form.isStreamed) return streamPictures(deps, wait);
  const latest = await watchUntil(deps, job, Math.min(begunMs + SILENT_WAIT_MS, wait.untilMs), signal);
  if (signal.aborted) throw new ApiError('request_canceled');
  const isOver = hasEnded(latest) || deps.jobWatches.isStopping || deps.clock.nowMs() >= wait.untilMs;
  return isOver ? sendPictures(deps, wait, latest, form) : sendLate(deps, wait, latest, form);
}

async function sendPictures(
  deps: HttpDeps,
  wait: PictureWait,
  latest: Job,
  { asLinks }: PictureForm,
): Promise<FastifyReply> {
  const made = await withJobError(wait, () => picturesOf(deps, wait, latest));
  if (asLinks) return wait.reply.send(linkedPicturesView(made));
  const pieces = pictureDocument(made, base64In(deps))[Symbol.asyncIterator]();
  // The store is asked before the status is sent.
  const first = await withJobError(wait, () => pieces.next());
  const document = new StreamedJson(wait.reply);
  await document.send(resumed(first, pieces)).catch((error: unknown) => failDocument(deps, wait, document, error));
  return wait.reply;
}

async function withJobError<Result>({ request }: PictureWait, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw errorWithJob(request, error);
  }
}

async function* resumed<Item>(first: IteratorResult<Item>, rest: AsyncIterator<Item>): AsyncIterable<Item> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}

/** The status is sent and white space follows it, until the job has ended or the wait is over. */
async function sendLate(
  deps: HttpDeps,
  wait: PictureWait,
  before: Job,
  { asLinks }: PictureForm,
): Promise<FastifyReply> {
  const { clock, jobWatches } = deps;
  const document = new StreamedJson(wait.reply);
  let latest = before;
  while (!hasEnded(latest) && !wait.signal.aborted && !jobWatches.isStopping && clock.nowMs() < wait.untilMs) {
    document.keepAlive();
    latest = await watchUntil(deps, latest, nextMs(deps, wait), wait.signal);
  }
  try {
    const made = await picturesOf(deps, wait, latest);
    const linked = [JSON.stringify(linkedPicturesView(made))];
    await document.send(asLinks ? asStream(linked) : pictureDocument(made, base64In(deps)));
  } catch (error) {
    failDocument(deps, wait, document, error);
  }
  return wait.reply;
}

function nextMs({ clock }: HttpDeps, { untilMs }: PictureWait): number {
  return Math.min(clock.nowMs() + WHITE_SPACE_EVERY_MS, untilMs);
}

async function* asStream<Item>(items: Iterable<Item>): AsyncIterable<Item> {
  yield* items;
}

/**
 * A library that counts its retries takes an error document with status 200 for success and a broken connection for a
 * failure, which it tries again and so joins the job. Others would make another job then, and do refuse the document.
 */
function failDocument({ log }: HttpDeps, wait: PictureWait, document: StreamedJson, thrown: unknown): void {
  const { request, reply } = wait;
  if (reply.raw.destroyed) return;
  const { code, message, param } = errorWithJob(request, thrown);
  if (code === 'internal_error') log.error({ request_id: request.id, err: thrown }, 'unexpected error in an answer');
  reply.streamFault = code;
  document.fail(countsRetries(request) ? undefined : JSON.stringify(errorEnvelope(code, message, param)));
}

async function streamPictures(deps: HttpDeps, wait: PictureWait): Promise<FastifyReply> {
  await sendEvents(
    wait.reply,
    {
      frames: withToldErrors(wait, framesOf(deps, wait)),
      contentType: 'text/event-stream; charset=utf-8',
      end: '',
      // Ends the frame before it first, which may be cut off in the middle of a picture.
      error: (envelope) => `\n\ndata: ${JSON.stringify(envelope)}\n\n`,
      cutOnError: false,
      // None by a timer: in the middle of a picture's frame it would break it.
    },
    deps.log,
  );
  return wait.reply;
}

async function* withToldErrors({ request }: PictureWait, frames: AsyncIterable<string>): AsyncIterable<string> {
  try {
    yield* frames;
  } catch (error) {
    throw errorWithJob(request, error);
  }
}

/** Comments while the job runs, then a frame for each picture. Partial pictures are not made. */
async function* framesOf(deps: HttpDeps, wait: PictureWait): AsyncIterable<string> {
  const { clock, jobWatches } = deps;
  let latest = wait.job;
  while (!hasEnded(latest) && !jobWatches.isStopping && clock.nowMs() < wait.untilMs) {
    yield ': hold\n\n';
    latest = await watchUntil(deps, latest, nextMs(deps, wait), wait.signal);
    if (wait.signal.aborted) return;
  }
  const made = await picturesOf(deps, wait, latest);
  yield* pictureEvents(wait.order.endpoint === 'images' ? 'image_generation' : 'image_edit', made, base64In(deps));
}

/** Throws unless the job has succeeded and its pictures are still there. */
async function picturesOf(deps: HttpDeps, { order, caller }: PictureWait, job: Job): Promise<MadePictures> {
  requireSucceeded(deps, job);
  const assets = (await getAssets(deps, caller.accountId, job.id)).filter(({ kind }) => kind === 'image');
  if (assets.length === 0) throw new ApiError('job_not_found');
  return { job, assets, asked: order.media };
}

/** A picture as it lies in the store; no more of it is in memory than the connection takes at once. */
function base64In({ objects }: HttpDeps) {
  return async ({ objectKey }: LinkedAsset): Promise<AsyncIterable<string>> => {
    const stored = await objects.read(objectKey);
    if (stored === undefined) throw new ApiError('job_not_found');
    return base64Of(stored.body);
  };
}
