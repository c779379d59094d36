import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { withTypes } from '../kit/forms.ts';
import { requiredString } from '../kit/json.ts';
import { firstMatch } from '../kit/mapping.ts';
import { stateIn } from '../kit/queue.ts';
import { refuse, refuseKeys, refuseOutside } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { TranscriptionWork } from '../vendor.ts';
import { callFor, predictionPath } from './predictions.ts';
import { failureOf, STATES } from './results.ts';
import { transcriptOf } from './transcript.ts';
import { wire } from './wire.ts';

interface Family {
  readonly audio: string;
  readonly prompt?: string;
  readonly hasTemperature?: boolean;
  /** What asks for English. */
  readonly translation?: JsonObject;
  readonly always?: JsonObject;
}

const WHISPER: Family = {
  audio: 'audio',
  prompt: 'initial_prompt',
  hasTemperature: true,
  translation: { translate: true },
  always: { transcription: 'plain text', translate: false },
};
/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/\/whisper/, WHISPER],
  [/\/gpt-4o-(mini-)?transcribe/, { audio: 'audio_file', prompt: 'prompt', hasTemperature: true }],
];
const USUAL: Family = { audio: 'audio' };

const RESERVED = 'audio audio_file task translate transcription timestamp diarise_audio hf_token'.split(' ');

/** A prediction over the recording; its id is all that has to be remembered. */
export const transcription: TranscriptionWork = {
  translates: (upstreamModel) => familyOf(upstreamModel).translation !== undefined,

  check(request, upstreamModel) {
    // The answer would be of another sound, in another language or of another shape than is charged and read.
    refuseKeys(request.extra, RESERVED);
    hintsOf(request, familyOf(upstreamModel));
  },

  async submit(request, audio, upstream) {
    const family = familyOf(upstream.model);
    const input = {
      ...family.always,
      ...withTypes(request.extra),
      ...hintsOf(request, family),
      ...(request.task === 'translate' && family.translation),
      [family.audio]: audio,
    };
    const call = await callFor(input, upstream);
    const answer = await wire.json(upstream, { ...call, accepts: [200, 201, 202] });
    return { state: 'accepted', task: { id: requiredString(answer, 'id') } };
  },

  async poll(task, upstream) {
    const reply = await wire.send(upstream, { path: predictionPath(task), accepts: [200, 404, 410] });
    const answer = await readTranscript(reply);
    if (reply.status !== 200) return { state: 'lost' };
    if (stateIn<'running' | 'over'>(answer, STATES) === 'running') return { state: 'running' };
    return failureOf(answer) ?? { state: 'transcribed', transcript: transcriptOf(answer.output) };
  },
};

function familyOf(model: string): Family {
  return firstMatch(FAMILIES, model) ?? USUAL;
}

/** Throws ApiError for a hint that the family does not take. */
function hintsOf({ language, prompt, temperature }: TranscriptionRequest, family: Family): JsonObject {
  if (prompt && family.prompt === undefined) throw unsupported('prompt');
  refuse('temperature', temperature !== undefined && family.hasTemperature !== true, 'none');
  refuseOutside('temperature', temperature, 0, 1);
  return {
    ...(language && { language }),
    ...(prompt && family.prompt !== undefined && { [family.prompt]: prompt }),
    ...(temperature !== undefined && { temperature }),
  };
}
