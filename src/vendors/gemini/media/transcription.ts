import { UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { TranscriptionRequest } from '../../../schemas/index.ts';
import { wire } from '../../formats/generate-content/index.ts';
import { jsonWithMedia, withoutAddress } from '../../kit/inline-media.ts';
import { objectsAt, requiredString, stringAt } from '../../kit/json.ts';
import { askAfter, stateIn } from '../../kit/queue.ts';
import { refuse } from '../../kit/refusals.ts';
import { readTranscript } from '../../kit/transcripts.ts';
import type { CallBody } from '../../kit/wire.ts';
import type { AudioFile, Transcript, TranscriptionWork, TranscriptWord } from '../../vendor.ts';
import {
  contentOf,
  failedInteraction,
  failureOf,
  INTERACTIONS,
  interactionAt,
  isCompleted,
  refuseReserved,
  STATES,
} from './interactions.ts';

/** Answered on the same line, or by a task where the vendor takes longer than that. It tells neither language nor length. */
export const transcription: TranscriptionWork = {
  check({ prompt, temperature, extra }) {
    refuse('prompt', Boolean(prompt), 'none');
    refuse('temperature', temperature !== undefined, 'none');
    refuseReserved(extra);
  },

  async submit(request, audio, upstream) {
    const call = { path: INTERACTIONS, body: toBody(request, audio, upstream.model) };
    const answer = await readTranscript(await wire.send(upstream, call));
    wire.faults.throwIfError(answer);
    if (stateIn(answer, STATES) === 'running') {
      return { state: 'accepted', task: { id: requiredString(answer, 'id') } };
    }
    if (isCompleted(answer)) return { state: 'transcribed', transcript: transcriptOf(answer) };
    const { fault, detail } = failureOf(answer);
    throw new UpstreamError(fault, detail);
  },

  async poll(task, upstream) {
    const { status, body = {} } = await askAfter(wire, upstream, interactionAt(task), [404, 410]);
    if (status === 404 || status === 410) return { state: 'lost' };
    wire.faults.throwIfError(body);
    if (stateIn(body, STATES) === 'running') return { state: 'running' };
    return isCompleted(body) ? { state: 'transcribed', transcript: transcriptOf(body) } : failedInteraction(body);
  },
};

/** Unverified: what the vendor takes inside a request, of which base64 makes a third more. */
const FILE_BYTES_MAX = 75_000_000;
const TYPES: ReadonlySet<string> = new Set(
  ['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac', 'mpeg', 'm4a', 'opus', 'webm'].map((type) => `audio/${type}`),
);

/** What the vendor is known not to take is not sent there first. */
function typeOf({ mimeType, bytes }: AudioFile): string {
  if (bytes > FILE_BYTES_MAX) throw new UpstreamError('unfit', `a file of ${bytes} bytes is too large`);
  const type = mimeType === 'audio/mp4' ? 'audio/m4a' : mimeType;
  if (!TYPES.has(type)) throw new UpstreamError('unfit', `no ${mimeType} is taken`);
  return type;
}

function toBody(request: TranscriptionRequest, audio: AudioFile, model: string): CallBody {
  const { language, granularities, responseFormat, extra } = request;
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const config = {
    ...(language !== undefined && { language_codes: [language] }),
    ...(needsTimes && { mode: { type: 'verbatim', timestamp_granularities: ['word'] } }),
  };
  const body = {
    ...extra,
    model,
    input: [{ type: 'audio', data: withoutAddress(audio), mime_type: typeOf(audio) }],
    ...(Object.keys(config).length > 0 && { generation_config: { transcription_config: config } }),
  };
  return jsonWithMedia(body, 'base64');
}

/** Without a usable text there is none, and the caller is told so. */
function transcriptOf(answer: JsonObject): Transcript {
  const contents = contentOf(answer, 'text');
  const text = contents.map((content) => stringAt(content, 'text') ?? '').join('');
  const words = contents.flatMap((content) => objectsAt(content, 'annotations').flatMap((note) => wordOf(note) ?? []));
  return { text, ...(words.length > 0 && { words }) };
}

function wordOf(note: JsonObject): TranscriptWord | undefined {
  const word = stringAt(note, 'text');
  const [start, end] = [secondsAt(note, 'start_offset'), secondsAt(note, 'end_offset')];
  if (stringAt(note, 'type') !== 'word_info' || word === undefined || start === undefined || end === undefined) {
    return undefined;
  }
  return { word, start, end: Math.max(start, end) };
}

/** `"1.250s"`. */
function secondsAt(note: JsonObject, key: string): number | undefined {
  const seconds = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(stringAt(note, key) ?? '')?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
