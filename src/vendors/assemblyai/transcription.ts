import assert from 'node:assert/strict';
import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { withTypes } from '../kit/forms.ts';
import type { Upstream } from '../kit/http.ts';
import { requiredString } from '../kit/json.ts';
import { beforeSubmission } from '../kit/preparation.ts';
import { stateIn } from '../kit/queue.ts';
import { refuseOutside } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { WireValue } from '../kit/wire.ts';
import type { AudioFile, TranscriptionProgress, TranscriptionWork, TranscriptSegment } from '../vendor.ts';
import { timedTexts, toVendorCode, transcriptOf } from './transcript.ts';
import { errorText, failedFor, wire } from './wire.ts';

/** Upload the recording, create a task for it, ask after the task. Its id is all that has to be remembered. */
export const transcription: TranscriptionWork = {
  check(request, upstreamModel) {
    const { prompt, temperature, extra } = request;
    if (prompt && !takesPrompt(upstreamModel)) throw unsupported('prompt');
    refuseOutside('temperature', temperature, 0, 1);
    for (const name of NOT_FOR_CALLERS) if (extra[name] !== undefined) throw unsupported(name);
  },

  async submit(request, audio, upstream) {
    const audioUrl = await upload(audio, upstream);
    const json = toWire(request, audioUrl, upstream.model);
    const answer = await wire.json(upstream, { path: '/v2/transcript', body: { json } });
    return { state: 'accepted', task: { id: requiredString(answer, 'id') } };
  },

  async poll({ id }, upstream) {
    assert.ok(typeof id === 'string');
    const path = `/v2/transcript/${encodeURIComponent(id)}`;
    const reply = await wire.send(upstream, { path, accepts: [200, 400, 404] });
    const answer = await readTranscript(reply);
    if (reply.status === 200) return progressOf(answer, path, upstream);
    // A task that is unknown, or deleted, is told as a bad request too.
    if (reply.status === 404 || /not found/i.test(errorText(answer))) return { state: 'lost' };
    const detail = `status ${reply.status}: ${errorText(answer)}`;
    throw new UpstreamError(wire.faults.ofRefusal(reply.status, answer), detail);
  },
};

const STATES = { queued: 'running', processing: 'running', completed: 'transcribed', error: 'failed' } as const;

async function progressOf(answer: JsonObject, path: string, upstream: Upstream): Promise<TranscriptionProgress> {
  const state = stateIn<(typeof STATES)[keyof typeof STATES]>(answer, STATES);
  switch (state) {
    case 'running':
      return { state };
    case 'failed':
      return failedFor(errorText(answer));
    case 'transcribed':
      return { state, transcript: { ...transcriptOf(answer), segments: await sentences(path, upstream) } };
  }
}

/** They choose the price, or the answer to them would name the upstream to the caller. */
const NOT_FOR_CALLERS = [
  'audio_url',
  'speech_model',
  'speech_models',
  'webhook_url',
  'webhook_auth_header_name',
  'webhook_auth_header_value',
];

/** The family that is told in words what to expect; older ones refuse to be. */
function takesPrompt(upstreamModel: string): boolean {
  return /^(universal-3|slam-1)/.test(upstreamModel);
}

/** Nothing is done, and so nothing paid, for a recording that lies there without a task. */
function upload(audio: AudioFile, upstream: Upstream): Promise<string> {
  return beforeSubmission('upload', async () => {
    const content = { bytes: audio.bytes, pieces: audio.pieces() };
    const call = { path: '/v2/upload', body: { type: 'application/octet-stream', content } };
    return requiredString(await wire.json(upstream, call), 'upload_url');
  });
}

/** Undefined fields are left out. An upstream that is not told the language would take everything for English. */
function toWire(request: TranscriptionRequest, audioUrl: string, upstreamModel: string): WireValue {
  const { language, prompt, temperature, extra } = request;
  const isGiven = language || extra.language_code || extra.language_detection !== undefined;
  return {
    ...withTypes(extra),
    audio_url: audioUrl,
    speech_models: upstreamModel.split(','),
    ...(language && { language_code: toVendorCode(language) }),
    ...(!isGiven && { language_detection: true }),
    prompt: prompt || undefined,
    temperature,
  };
}

/** They only divide what is there already, so a transcript without them is still a transcript. */
async function sentences(path: string, upstream: Upstream): Promise<TranscriptSegment[] | undefined> {
  try {
    return timedTexts(await readTranscript(await wire.send(upstream, { path: `${path}/sentences` })), 'sentences');
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}
