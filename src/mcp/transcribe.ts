import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { creditsToNumber } from '../credits.ts';
import { MCP_PROGRESS_EVERY_SECONDS } from '../limits.ts';
import { parseWith } from '../parse.ts';
import { toTranscription, transcriptionSchema } from '../schemas/index.ts';
import { type SavedResult, startTranscription } from '../transcriptions/index.ts';
import { bodyOf, type Maker } from './maker.ts';
import { REFERENCE, urlOf } from './references.ts';
import { MAKES, type Tool, type ToolCall, textBlock } from './tool.ts';
import { secondsToWait } from './wait.ts';

const clip = z.object({
  audio: z.string().min(1).describe(`The recording. ${REFERENCE}`),
  model: z.string().optional().describe('An id of list_models; by default the first that can do it.'),
  language: z.string().min(1).optional().describe('An ISO code, as a hint.'),
  format: z.enum(['text', 'segments']).optional().describe('With `segments` each line has its times.'),
});

const transcribeMaker: Maker<typeof clip> = {
  name: 'transcribe',
  title: 'Turn sound into text',
  description: 'Turns a recording into text. Costs credits.',
  input: clip,
  endpoint: 'transcriptions',
  scope: 'user:inference:audio',
  body: async (deps, call, { audio, language, format }) => ({
    url: await urlOf(deps, call, audio),
    language,
    response_format: format === 'segments' ? 'verbose_json' : 'json',
  }),
};

export const transcribe: Tool<typeof clip> = {
  ...transcribeMaker,
  // Changes nothing but the balance.
  annotations: { ...MAKES, readOnlyHint: true },
  logged: 'transcriptions',
  run: async (deps, call, args) => {
    const body = await bodyOf(deps, call, transcribeMaker, args);
    const { request, url = '' } = toTranscription(parseWith(transcriptionSchema, body), body);
    const { recordId: id, signal, trace } = call;
    const started = await startTranscription(deps, call.caller, { id, request, clip: { url }, signal, trace });
    trace.reservationId = started.reservationId;
    const saved = await withinTime(call, id, started.result);
    if (saved !== undefined)
      return { content: [textBlock(transcriptHead(saved)), textBlock(transcriptOf(saved, args.format))] };
    const words = `Transcription ${id} is processing. Call get_job with this as job_id and wait for its result.`;
    return { content: [textBlock(words)], structuredContent: { job_id: id, status: 'processing' } };
  },
};

/** Undefined when it takes longer than a call may wait; the work goes on all the same. */
async function withinTime(call: ToolCall, id: string, result: Promise<SavedResult>): Promise<SavedResult | undefined> {
  call.trace.streamedAtMs ??= performance.now();
  const over = new AbortController();
  const settled = result.then((saved) => ({ saved }));
  try {
    for (let left = secondsToWait(true, true, call); left > 0; left -= MCP_PROGRESS_EVERY_SECONDS) {
      await call.report?.(0, `${id} is processing`);
      const step = sleep(1000 * MCP_PROGRESS_EVERY_SECONDS, undefined, { signal: over.signal }).catch(() => undefined);
      const done = await Promise.race([settled, step]);
      if (done !== undefined) return done.saved;
    }
    return undefined;
  } finally {
    over.abort();
    settled.catch(() => undefined);
  }
}

export function transcriptHead({ seconds, charged, transcript, wanted }: SavedResult): string {
  const language = transcript.language ?? wanted.language;
  const spoken = language === undefined ? '' : ` in ${language}`;
  return `Transcribed ${Math.round(seconds * 10) / 10} s${spoken} for ${creditsToNumber(charged)} credits. The text:`;
}

export function transcriptOf({ transcript }: SavedResult, format: 'text' | 'segments' | undefined): string {
  if (format !== 'segments' || transcript.segments === undefined) return transcript.text;
  return transcript.segments
    .map(({ start, end, text }) => `[${start.toFixed(1)}-${end.toFixed(1)}] ${text.trim()}`)
    .join('\n');
}
