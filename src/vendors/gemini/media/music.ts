import { UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../../limits.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import { wire } from '../../formats/generate-content/index.ts';
import { failed } from '../../kit/faults.ts';
import type { Upstream } from '../../kit/http.ts';
import { requiredString } from '../../kit/json.ts';
import { refuseFields } from '../../kit/mapping.ts';
import { SOUND_NAMES } from '../../kit/public-names.ts';
import { queueWork, stateIn } from '../../kit/queue.ts';
import { refuse, refuseOutside } from '../../kit/refusals.ts';
import type { Call } from '../../kit/wire.ts';
import type { Media, Progress, TaskWork } from '../../vendor.ts';
import {
  contentOf,
  failedInteraction,
  failureOf,
  INTERACTIONS,
  interactionAt,
  isCompleted,
  outputOf,
  refuseReserved,
  STATES,
  tokensIn,
} from './interactions.ts';

type Request = SoundRequest<Media>;

const CLIP_SECONDS = 30;
/** Unverified: "a few minutes", by the vendor's words. */
const SONG_SECONDS_MAX = 180;
const SAMPLE_RATE = 44_100;

const asTask = queueWork<Request>({
  wire,
  check: (request, model) => void promptOf(request, model),
  submission: (request, _order, { model }) => callOf(request, model),
  taskIn: (answer) => ({ id: requiredString(answer, 'id') }),
  statusAt: interactionAt,
  states: STATES,
  outcome: (answer, _task, upstream) => outcome(answer, upstream),
});

/** A song that comes with the answer to its submission; where that says that it is still being made, it is asked after. */
export const music: TaskWork<Request> = {
  ...asTask,

  async submit(request, _order, upstream) {
    const call = callOf(request, upstream.model);
    const { json, blobs } = await wire.jsonWithBlobs(upstream, call, 'data', UPSTREAM_RESPONSE_BYTES_MAX);
    if (stateIn(json, STATES) === 'running') return { state: 'accepted', task: { id: requiredString(json, 'id') } };
    const made = outcome(json, upstream, blobs);
    if (made.state === 'succeeded') return made;
    const { fault, detail } = failureOf(json);
    throw new UpstreamError(fault, detail);
  },
};

function callOf(request: Request, model: string): Call {
  const json = { ...request.extra, model, input: promptOf(request, model), response_format: { type: 'audio' } };
  return { path: INTERACTIONS, body: { json } };
}

/** The vendor has one field, its prompt, and reads all wishes from there. Throws ApiError for what it cannot take. */
function promptOf(request: Request, model: string): string {
  refuseReserved(request.extra);
  const taken = ['prompt', 'input', 'lyrics', 'instrumental', 'durationSeconds', 'format', 'sampleRate'] as const;
  refuseFields(request, taken, SOUND_NAMES);
  const { prompt, input, lyrics, instrumental, durationSeconds, format, sampleRate } = request;
  refuse('input', prompt !== undefined && input !== undefined, { notWith: 'prompt' });
  refuse('instrumental', instrumental === true && lyrics !== undefined, { notWith: 'lyrics' });
  refuse('response_format', (format ?? 'mp3') !== 'mp3', { oneOf: ['mp3'] });
  refuse('sample_rate', (sampleRate ?? SAMPLE_RATE) !== SAMPLE_RATE, { oneOf: [SAMPLE_RATE] });
  refuseSeconds(durationSeconds, model);
  const description = prompt ?? input;
  if (description === undefined && lyrics === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  const wishes = [
    description,
    instrumental === true ? 'Instrumental only, no vocals.' : undefined,
    durationSeconds === undefined || isClip(model) ? undefined : `The length is ${durationSeconds} seconds.`,
    lyrics === undefined ? undefined : `Lyrics:\n${lyrics}`,
  ];
  return wishes.filter((wish) => wish !== undefined).join('\n\n');
}

function isClip(model: string): boolean {
  return /lyria-\d+(?:\.\d+)?-clip/.test(model);
}

function refuseSeconds(seconds: number | undefined, model: string): void {
  if (isClip(model)) refuse('duration_seconds', (seconds ?? CLIP_SECONDS) !== CLIP_SECONDS, { oneOf: [CLIP_SECONDS] });
  else refuseOutside('duration_seconds', seconds, 1, SONG_SECONDS_MAX);
}

/** Beside the song there are words about it, which are left. */
function outcome(answer: JsonObject, upstream: Upstream, blobs: readonly Buffer[] = []): Progress {
  if (!isCompleted(answer)) return failedInteraction(answer);
  const song = contentOf(answer, 'audio').at(-1);
  if (song === undefined) return failed('server', 'an interaction without a song');
  return { state: 'succeeded', outputs: [outputOf(song, upstream, blobs)], usage: tokensIn(answer) };
}
