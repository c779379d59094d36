import assert from 'node:assert/strict';
import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { TranscriptionRequest } from '../../requests/index.ts';
import { unsupported } from '../../unsupported.ts';
import { readBytes, readJson, send, type Upstream } from '../kit/http.ts';
import { stringAt } from '../kit/json.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { AudioFile, TranscriptionWork } from '../vendor.ts';
import { faultOf, isUnknown, textOf } from './faults.ts';
import { toVendorCode } from './languages.ts';
import { segmentsIn, verdictOn } from './transcript.ts';

/** Upload the recording, create a task for it, ask after the task. Its id is all that has to be remembered. */
export const transcription: TranscriptionWork = {
  check(request, upstreamModel) {
    const { prompt, temperature = 0, extra } = request;
    if (prompt && !takesPrompt(upstreamModel)) throw unsupported('prompt');
    if (!(temperature >= 0 && temperature <= 1)) throw unsupported('temperature', { from: 0, to: 1 });
    for (const name of OURS) if (extra[name] !== undefined) throw unsupported(name);
  },

  async submit(request, audio, upstream) {
    const audioUrl = await upload(audio, upstream);
    const body = JSON.stringify(toWire(request, audioUrl, upstream.model));
    const headers = { ...headersOf(upstream), 'content-type': 'application/json' };
    const call = { method: 'POST', path: '/v2/transcript', headers, body } as const;
    const id = stringAt(await readJson(await send(upstream, call, { faultOf })), 'id');
    if (id === undefined) throw new UpstreamError('garbled', 'a task without an id');
    return { state: 'accepted', task: { id } };
  },

  async poll(task, upstream) {
    assert.ok(typeof task.id === 'string');
    const path = `/v2/transcript/${encodeURIComponent(task.id)}`;
    const reply = await send(upstream, { ...asking(upstream, path), accepts: [200, 400, 404] }, { faultOf });
    const told = readTranscript(await readBytes(reply));
    if (reply.status !== 200) {
      if (isUnknown(reply.status, told)) return { state: 'lost' };
      throw new UpstreamError(faultOf(reply.status, told) ?? 'client', `status ${reply.status}: ${textOf(told)}`);
    }
    const verdict = verdictOn(told);
    if (verdict.state !== 'transcribed') return verdict;
    const segments = await sentences(path, upstream);
    return { ...verdict, transcript: { ...verdict.transcript, segments } };
  },
};

/** What is ours to say, because it chooses the price, or because the answer would name the upstream to the caller. */
const OURS = [
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
async function upload(audio: AudioFile, upstream: Upstream): Promise<string> {
  try {
    const headers = { ...headersOf(upstream), 'content-type': 'application/octet-stream' };
    const body = { bytes: audio.bytes, pieces: audio.pieces() };
    const reply = await send(upstream, { method: 'POST', path: '/v2/upload', headers, body }, { faultOf });
    const url = stringAt(await readJson(reply), 'upload_url');
    if (url === undefined) throw new UpstreamError('garbled', 'an upload without an address');
    return url;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { fault, message, retryAfterMs } = error;
    throw new UpstreamError(fault, `upload: ${message}`, { retryAfterMs, isUncertain: false, cause: error });
  }
}

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Undefined fields are left out. An upstream that is not told the language would take everything for English. */
function toWire(request: TranscriptionRequest, audioUrl: string, upstreamModel: string): Fields {
  const { language, prompt, temperature, extra } = request;
  const isTold = language || extra.language_code || extra.language_detection !== undefined;
  return {
    ...typed(extra),
    audio_url: audioUrl,
    speech_models: upstreamModel.split(','),
    ...(language && { language_code: toVendorCode(language) }),
    ...(!isTold && { language_detection: true }),
    prompt: prompt || undefined,
    temperature,
  };
}

/** A form holds words for everything, and no text of this vendor's is a number or a flag. */
function typed(extra: JsonObject): Fields {
  return Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, meant(value)]));
}

function meant(value: JsonValue): JsonValue {
  const isOther = typeof value === 'string' && /^(true|false|-?(0|[1-9]\d{0,8})(\.\d{1,9})?)$/.test(value);
  return isOther ? JSON.parse(value) : value;
}

/** They only divide what is there already, so a transcript without them is still a transcript. */
async function sentences(path: string, upstream: Upstream): Promise<ReturnType<typeof segmentsIn>> {
  try {
    const reply = await send(upstream, asking(upstream, `${path}/sentences`), { faultOf });
    return segmentsIn(readTranscript(await readBytes(reply)));
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

function asking(upstream: Upstream, path: string) {
  return { method: 'GET', path, headers: headersOf(upstream) } as const;
}

/** This vendor's keys stand without a word for their kind. */
function headersOf({ apiKey }: Upstream): Record<string, string> {
  return { accept: 'application/json', authorization: apiKey };
}
