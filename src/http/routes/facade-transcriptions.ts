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
type TextForm = 'json' | 'text' | 'srt' | 'vtt';
type TranscriptForm = TextForm | 'stream';

/** Transcripts also as subtitles and as a stream, made from the same saved result. */
export function facadeTranscriptionRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      ...CONTRACT,
      path: `${FACADE}/audio/transcriptions`,
      summary: 'Turn sound into text, subtitles or a stream; the result is also kept under the Location of the answer',
      otherMedia: ['text/plain', 'text/event-stream'],
    },
    async (call) => {
      const wanted: { form: TranscriptForm } = { form: 'json' };
      const started = await startFromForm(deps, call, (sent) => {
        wanted.form = isStream(sent) ? 'stream' : textFormOf(sent);
        return transcriptionFromForm(plainForm(sent, wanted.form));
      });
      noteStarted(deps, call, started);
      const { form } = wanted;
      if (form === 'stream') return streamTranscript(deps, call, started);
      return sendTranscript(call, started, form, transcriptionView);
    },
  );

  routes.add(
    {
      ...CONTRACT,
      path: `${FACADE}/audio/translations`,
      summary:
        'Turn sound in any language into English text or subtitles, with models that translate; kept like a transcript',
      otherMedia: ['text/plain'],
    },
    async (call) => {
      const wanted: { form: TextForm } = { form: 'json' };
      const started = await startFromForm(deps, call, (sent) => {
        wanted.form = textFormOf(sent);
        return transcriptionFromForm(plainForm(sent, wanted.form), 'translate');
      });
      noteStarted(deps, call, started);
      return sendTranscript(call, started, wanted.form, translationView);
    },
  );
}

const CONTRACT = {
  method: 'POST',
  access: 'caller',
  scope: 'user:inference:audio',
  logged: 'transcriptions',
  body: { kind: 'form', formBytesMax: TRANSCRIPTION_MULTIPART_BYTES_MAX, tooLarge: 'body_too_large' },
  answers: { 200: transcriptionSchema },
  codes: [...TRANSCRIPTION_CODES, 'invalid_parameter'],
  codesAs400: ['request_timeout', 'shutting_down', 'database_unavailable'],
} as const;

/** The language as client libraries of translations have it: always this word. */
function translationView(saved: SavedResult) {
  const view = transcriptionView(saved);
  return view.language === undefined ? view : { ...view, language: 'english' };
}

function isStream({ values }: Form<unknown>): boolean {
  return new Map(values).get('stream')?.toLowerCase() === 'true';
}

function textFormOf({ values }: Form<unknown>): TextForm {
  const format = new Map(values).get('response_format');
  return format === 'text' || format === 'srt' || format === 'vtt' ? format : 'json';
}

/** As the plain interface takes it: subtitles are made from the segments of the longest form. */
function plainForm<File>({ values, files }: Form<File>, form: TranscriptForm): Form<File> {
  const own = [...(form === 'stream' ? ['stream'] : []), ...(form === 'json' ? [] : ['response_format'])];
  const others = values.filter(([name]) => !own.includes(name));
  const hasTimes = form === 'srt' || form === 'vtt';
  return { files, values: hasTimes ? [...others, ['response_format', 'verbose_json']] : others };
}

async function sendTranscript(
  { request, reply }: CreateCall,
  { result }: Started,
  form: TextForm,
  view: typeof transcriptionView,
) {
  const saved = await result.catch((error: unknown) => {
    // The work goes on and may be charged: a library that does not count its retries must not begin it again.
    const isOpen = error instanceof ApiError && error.headers['x-should-retry'] === 'false';
    throw isOpen ? errorWithJob(request, error) : error;
  });
  if (form === 'json') return view(saved);
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
