import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { withTypes } from '../kit/forms.ts';
import type { Upstream } from '../kit/http.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { firstMatch } from '../kit/mapping.ts';
import { askAfter, isSuccess, stateIn } from '../kit/queue.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { TranscriptionProgress, TranscriptionWork } from '../vendor.ts';
import { linksIn, outcomeOf, STATES, urlOf } from './queue.ts';
import { transcriptOfResult, vendorCode } from './transcript.ts';
import { TELLING, verdictOf, wire } from './wire.ts';

interface Family {
  /** The names of the hints that it takes. */
  readonly language?: string;
  readonly prompt?: string;
  readonly hasChunks?: boolean;
  /** Against surprising defaults: a language that is not heard but assumed, and speakers that are told apart. */
  readonly always?: JsonObject;
}

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/\/whisper/, { language: 'language', prompt: 'prompt', hasChunks: true, always: { task: 'transcribe' } }],
  [/\/wizper/, { language: 'language', hasChunks: true, always: { task: 'transcribe', language: null } }],
  [/\/elevenlabs\/speech-to-text/, { language: 'language_code', always: { diarize: false } }],
  [/\/speech-to-text/, {}],
];
const USUAL: Family = { language: 'language' };

/** A task of the vendor's queue. The recording goes with it, inside its input. */
export const transcription: TranscriptionWork = {
  check(request, upstreamModel) {
    // The answer would be of another sound, another language or another shape than is charged and read.
    refuseKeys(request.extra, ['audio_url', 'task', 'chunk_level', 'sync_mode']);
    hintsOf(request, familyOf(upstreamModel));
  },

  async submit(request, audio, upstream) {
    const family = familyOf(upstream.model);
    const chunks = request.granularities.includes('word') ? 'word' : 'segment';
    const input = {
      ...family.always,
      ...withTypes(request.extra),
      ...hintsOf(request, family),
      ...(family.hasChunks === true && { chunk_level: chunks }),
      audio_url: audio,
    };
    const call = { path: `/${upstream.model}`, body: jsonWithMedia(input), accepts: [200, 202] };
    const answer = await wire.json(upstream, call);
    return { state: 'accepted', task: { ...linksIn(answer, upstream), chunks } };
  },

  async poll(task, upstream) {
    const answer = await askAfter(wire, upstream, urlOf(task.statusUrl, upstream), TELLING);
    if (answer.status === 404 || answer.status === 410) return { state: 'lost' };
    if (!isSuccess(answer)) return verdictOf(answer, 'status');
    if (stateIn<'running' | 'over'>(answer.body, STATES) === 'running') return { state: 'running' };
    return outcomeOf(answer.body ?? {}, () => resultOfTask(task, upstream));
  },
};

async function resultOfTask(task: JsonObject, upstream: Upstream): Promise<TranscriptionProgress> {
  const path = urlOf(task.responseUrl, upstream);
  const reply = await wire.send(upstream, { path, accepts: [200, ...TELLING] });
  const body = await readTranscript(reply);
  if (reply.status !== 200) return verdictOf({ status: reply.status, headers: reply.headers, body }, 'result');
  if (body.detail !== undefined) throw new UpstreamError('garbled', 'an error for an answer');
  return { state: 'transcribed', transcript: transcriptOfResult(body, task.chunks === 'word') };
}

function familyOf(model: string): Family {
  return firstMatch(FAMILIES, model) ?? USUAL;
}

/** Throws ApiError for a hint that the family does not take. */
function hintsOf({ language, prompt, temperature }: TranscriptionRequest, family: Family): JsonObject {
  if (temperature !== undefined) throw unsupported('temperature');
  if (prompt && family.prompt === undefined) throw unsupported('prompt');
  if (language && family.language === undefined) throw unsupported('language');
  return {
    ...(language && family.language !== undefined && { [family.language]: vendorCode(language) }),
    ...(prompt && family.prompt !== undefined && { [family.prompt]: prompt }),
  };
}
