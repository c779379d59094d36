import type { FastifyReply } from 'fastify';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import { TRANSCRIPTION_MULTIPART_BYTES_MAX } from '../../limits.ts';
import { type Form, transcriptionFromForm } from '../../schemas/index.ts';
import type { SavedResult, Started } from '../../transcriptions/index.ts';
import { FACADE } from '../contract/facade.ts';
import type { HttpDeps } from '../deps.ts';
import { KEEP_ALIVE_COMMENT, sendEvents } from '../edge/events.ts';
import type { Routes } from '../edge/route.ts';
import { subtitlesOf } from '../views/subtitles.ts';
import { transcriptionSchema, transcriptionView } from '../views/transcriptions.ts';
import type { CreateCall } from './create-call.ts';
import { errorWithJob } from './facade-wait.ts';
import { noteStarted, startFromForm, TRANSCRIPTION_CODES } from './transcriptions.ts';

/** How the transcript is to be answered. */
type TranscriptForm = 'json' | 'text' | 'srt' | 'vtt' | 'stream';

/** Transcripts also as subtitles and as a stream, made from the same saved result. */
export function facadeTranscriptionRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: `${FACADE}/audio/transcriptions`,
      summary: 'Turn sound into text, subtitles or a stream; the result is also kept under the Location of the answer',
      access: 'caller',
      scope: 'user:inference:audio',
      logged: 'transcriptions',
      body: { kind: 'form', formBytesMax: TRANSCRIPTION_MULTIPART_BYTES_MAX, tooLarge: 'body_too_large' },
      otherMedia: ['text/plain', 'text/event-stream'],
      answers: { 200: transcriptionSchema },
      codes: [...TRANSCRIPTION_CODES, 'invalid_parameter'],
      codesAs400: ['request_timeout', 'shutting_down', 'database_unavailable'],
    },
    async (call) => {
      const wanted: { form: TranscriptForm } = { form: 'json' };
      const started = await startFromForm(deps, call, (sent) => {
        wanted.form = transcriptFormOf(sent);
        return transcriptionFromForm(plainForm(sent, wanted.form));
      });
      noteStarted(deps, call, started);
      const { form } = wanted;
      return form === 'stream' ? streamTranscript(deps, call, started) : sendTranscript(call, started, form);
    },
  );
}

function transcriptFormOf({ values }: Form<unknown>): TranscriptForm {
  const sent = new Map(values);
  if (sent.get('stream')?.toLowerCase() === 'true') return 'stream';
  const format = sent.get('response_format');
  return format === 'text' || format === 'srt' || format === 'vtt' ? format : 'json';
}

/** As the plain interface takes it: subtitles are made from the segments of the longest form. */
function plainForm<File>({ values, files }: Form<File>, form: TranscriptForm): Form<File> {
  const isOwn = (name: string) => name === 'stream' || (name === 'response_format' && form !== 'json');
  const others = values.filter(([name]) => !isOwn(name));
  const hasTimes = form === 'srt' || form === 'vtt';
  return { files, values: hasTimes ? [...others, ['response_format', 'verbose_json']] : others };
}

async function sendTranscript(
  { request, reply }: CreateCall,
  { result }: Started,
  form: Exclude<TranscriptForm, 'stream'>,
) {
  const saved = await result.catch((error: unknown) => {
    // The work goes on and may be charged: a library that does not count its retries must not begin it again.
    const isOpen = error instanceof ApiError && error.headers['x-should-retry'] === 'false';
    throw isOpen ? errorWithJob(request, error) : error;
  });
  if (form === 'json') return transcriptionView(saved);
  // Libraries parse whatever has a type of JSON, and pass plain text on as it is.
  reply.header('x-credits-charged', creditsToNumber(saved.charged)).type('text/plain; charset=utf-8');
  return form === 'text' ? saved.transcript.text : subtitlesOf(saved, form);
}

async function streamTranscript(deps: HttpDeps, { reply }: CreateCall, { result }: Started): Promise<FastifyReply> {
  await sendEvents(
    reply,
    {
      frames: transcriptEvents(result),
      contentType: 'text/event-stream; charset=utf-8',
      end: '',
      error: (envelope) => `data: ${JSON.stringify(envelope)}\n\n`,
      cutOnError: false,
      keepAlive: KEEP_ALIVE_COMMENT,
    },
    deps.log,
  );
  return reply;
}

/** Upstreams answer whole, so there is one piece of it. */
async function* transcriptEvents(result: Promise<SavedResult>): AsyncIterable<string> {
  const { text, usage } = transcriptionView(await result);
  yield `data: ${JSON.stringify({ type: 'transcript.text.delta', delta: text })}\n\n`;
  yield `data: ${JSON.stringify({ type: 'transcript.text.done', text, usage })}\n\n`;
}
