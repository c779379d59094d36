import { isRefusal } from '../../billing/index.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { killPoint } from '../../kill-point.ts';
import { TRANSCRIPTION_JSON_BYTES_MAX, TRANSCRIPTION_MULTIPART_BYTES_MAX } from '../../limits.ts';
import { abandonInput, type BufferedMedia, releaseMemory, type StoredMedia, takeInput } from '../../objects/index.ts';
import {
  type Form,
  type TranscriptionRequest,
  toTranscription,
  transcriptionFromForm,
  transcriptionSchema,
} from '../../schemas/index.ts';
import {
  CLIP_RULES,
  getTranscription,
  listTranscriptions,
  type Started,
  startTranscription,
} from '../../transcriptions/index.ts';
import { consolePath } from '../contract/contract.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { filesOf, readForm, valuesOf } from '../edge/form.ts';
import { recordIdOf } from '../edge/request-id.ts';
import { modelOfForm, traceModel } from '../edge/request-line.ts';
import { FORM_TO_READ, listOf, page, type Routes } from '../edge/route.ts';
import {
  transcriptionSchema as answerSchema,
  endedRecordSchema,
  expiredRecordSchema,
  listedRecordSchema,
  listedRecordView,
  openRecordSchema,
  recordView,
  transcriptionView,
} from '../views/transcriptions.ts';
import { CALL_CODES, callContext } from './call.ts';
import type { CreateCall } from './create-call.ts';

const PATH = '/v1/audio/transcriptions';
const PRIVATE = 'private, no-store';

export const TRANSCRIPTION_CODES = [
  ...CALL_CODES,
  'missing_model',
  'missing_file',
  'ambiguous_input',
  'unexpected_file',
  'empty_file',
  'unreadable_file',
  'unsupported_audio_format',
  'file_too_large',
  'invalid_response_format',
  'invalid_temperature',
  'invalid_timestamp_granularity',
  'conflicting_parameters',
  'unsupported_media_url_scheme',
  'invalid_media_url',
  'invalid_input_url',
  'url_in_extra',
  'empty_transcription_response',
  'upstream_response_too_large',
  'job_service_unavailable',
  'database_unavailable',
  'request_canceled',
] as const satisfies readonly ErrorCode[];

export function transcriptionRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: PATH,
      summary: 'Turn sound into text; the result is also kept under the Location of the answer',
      access: 'caller',
      scope: 'user:inference:audio',
      console: 'run',
      logged: 'transcriptions',
      body: {
        kind: 'json or form',
        schema: transcriptionSchema,
        bytesMax: TRANSCRIPTION_JSON_BYTES_MAX,
        formBytesMax: TRANSCRIPTION_MULTIPART_BYTES_MAX,
      },
      otherMedia: ['text/plain'],
      answers: { 200: answerSchema },
      codes: TRANSCRIPTION_CODES,
    },
    async ({ body, exact, ...call }) => {
      if (body === FORM_TO_READ) return sendStarted(deps, call, await startFromForm(deps, call));
      const { request, url = '' } = toTranscription(body, exact());
      return sendStarted(deps, call, await start(deps, call, request, { url }));
    },
  );

  routes.add(
    {
      method: 'GET',
      path: consolePath(PATH),
      summary: 'The transcriptions of the account, newest first, without what was heard',
      access: 'session',
      role: 'viewer',
      query: pageQuery,
      answers: { 200: listOf(listedRecordSchema) },
    },
    ({ accountId, query: { limit, after } }) => {
      const read = (most: number) => listTranscriptions(deps, accountId, { limit: most, after });
      return page(limit, read, listedRecordView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: `${PATH}/{request_id}`,
      summary: 'A transcription as it was saved; never asks an upstream and never costs anything',
      access: 'caller',
      scope: 'user:jobs',
      console: 'read',
      answers: { 200: endedRecordSchema, 202: openRecordSchema, 410: expiredRecordSchema },
      codes: ['transcription_not_found', 'database_unavailable'],
    },
    async ({ accountId, param, reply }) => {
      reply.header('cache-control', PRIVATE);
      const record = await getTranscription(deps, accountId, param('request_id'));
      if (record.status === 'pending' || record.status === 'processing') {
        reply.code(202).header('retry-after', RETRY_AFTER_SECONDS[record.status]);
      } else if (record.status === 'expired') {
        reply.errorCode = 'transcription_expired';
        reply.code(410);
      }
      return recordView(record);
    },
  );
}

const RETRY_AFTER_SECONDS = { pending: '5', processing: '2' } as const;

function start(
  deps: HttpDeps,
  { request, reply, caller }: CreateCall,
  transcription: TranscriptionRequest,
  clip: BufferedMedia | StoredMedia | { readonly url: string },
): Promise<Started> {
  const { signal, trace } = callContext(request, reply);
  return startTranscription(deps, caller, {
    id: recordIdOf(request),
    request: transcription,
    clip,
    signal,
    trace,
  });
}

type ReadForm = (form: Form<unknown>) => ReturnType<typeof transcriptionFromForm>;

/** The file is taken as it comes. If it comes to nothing, the file goes again. */
export async function startFromForm(
  deps: HttpDeps,
  call: CreateCall,
  read: ReadForm = transcriptionFromForm,
): Promise<Started> {
  const { signal } = callContext(call.request, call.reply);
  const clips: (BufferedMedia | StoredMedia)[] = [];
  let count = 0;
  let isOver = false;
  try {
    const form = await readForm(call.request, {
      bytesMax: TRANSCRIPTION_MULTIPART_BYTES_MAX,
      tooLarge: 'body_too_large',
      take: async (name, _fileName, body) => {
        if (name !== 'file') throw new ApiError('unexpected_file');
        if (++count > 1) throw new ApiError('ambiguous_input', { message: 'Send one file.' });
        const clip = await takeInput(deps, call.caller.accountId, body, CLIP_RULES, signal);
        // Something else of the form was refused before this one had been looked at.
        if (isOver) releaseMemory(clip);
        clips.push(clip);
        return clip;
      },
    });
    const files = filesOf(form).map(({ name, file }) => [name, file] as const);
    const values = valuesOf(form);
    traceModel(call.request, modelOfForm(values));
    const { request, url = '' } = read({ values, files });
    return await start(deps, call, request, clips[0] ?? { url });
  } catch (error) {
    isOver = true;
    await Promise.all(clips.map((clip) => abandonInput(deps, clip, !isRefusal(error))));
    throw error;
  }
}

/** From here on there is a record: whatever becomes of this answer, it says where to look. */
export function noteStarted(deps: HttpDeps, { request, reply }: CreateCall, { id, reservationId }: Started): void {
  if (request.trace !== undefined) request.trace.reservationId = reservationId;
  if (id !== request.id)
    deps.log.info({ request_id: request.id, transcription: id }, 'a transcription has an id of its own');
  const path = request.signedIn === undefined ? PATH : consolePath(PATH);
  reply.headers({ 'x-request-id': id, location: `${deps.config.publicUrl}${path}/${id}`, 'cache-control': PRIVATE });
}

async function sendStarted(deps: HttpDeps, call: CreateCall, started: Started) {
  const { reply } = call;
  noteStarted(deps, call, started);
  const saved = await started.result;
  killPoint(deps.log, 'transcription.answer.before-send', started.id);
  if (saved.wanted.responseFormat !== 'text') return transcriptionView(saved);
  reply.header('x-credits-charged', creditsToNumber(saved.charged)).type('text/plain; charset=utf-8');
  return saved.transcript.text;
}
