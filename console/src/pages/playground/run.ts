import { useCallback, useEffect, useRef, useState } from 'react';
import { api, Refusal, send } from '../../api/client.ts';
import { rememberClip } from '../../api/clips.ts';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import type { Job, LoggedRequest, Speech, Transcription, VoicePreviews } from '../../api/schema.ts';
import { useRefresh } from '../../kit/confirm.tsx';
import { makesJob, PATHS } from '../../samples/call.ts';
import type { Body } from './draft.ts';
import { readChat } from './stream.ts';

/** A call as it was sent. */
export interface RunCall {
  readonly endpoint: PlaygroundEndpoint;
  readonly body: Body;
  readonly clip?: File | undefined;
}

/** A call and what has come of it so far. */
export interface Run {
  /** Its idempotency key, and its name in the history. */
  readonly key: string;
  readonly call: RunCall;
  /** An accepted job is followed elsewhere: here its call has ended. */
  readonly state: 'running' | 'answered' | 'failed' | 'stopped';
  readonly requestId?: string;
  readonly text?: string;
  readonly job?: Job;
  readonly speech?: Speech | VoicePreviews;
  readonly transcript?: Transcription;
  /** What it cost, where the answer says it. */
  readonly credits?: number;
  readonly error?: unknown;
}

type Change = Partial<Omit<Run, 'key' | 'call'>>;
type Report = (change: Change) => void;

const BALANCE = ['/api/console/credits'];

/** One call at a time. Leaving the page stops a stream, as its button does; a job goes on by itself. */
export function useRun(): {
  readonly run: Run | undefined;
  /** Answers with the run's key. */
  readonly start: (call: RunCall, key?: string) => string;
  readonly stop: () => void;
} {
  const [run, setRun] = useState<Run>();
  const sending = useRef<AbortController>(undefined);
  const refresh = useRefresh();
  useEffect(() => () => sending.current?.abort(), []);
  const stop = useCallback(() => sending.current?.abort(), []);
  const start = (call: RunCall, key = newKey()) => {
    sending.current?.abort();
    const controller = new AbortController();
    sending.current = controller;
    setRun({ key, call, state: 'running' });
    const report: Report = (change) => setRun((now) => (now?.key === key ? { ...now, ...change } : now));
    void perform(call, key, report, controller.signal)
      .then(() => report({ state: 'answered' }))
      .catch((error: unknown) => report(controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error }))
      .then(() => refresh(BALANCE));
    return key;
  };
  return { run, start, stop };
}

/** A key that no other run has; `crypto.randomUUID` is missing where the gateway is reached without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function perform(call: RunCall, key: string, report: Report, signal: AbortSignal): Promise<void> {
  const { endpoint, body } = call;
  const path = PATHS[endpoint].replace('/v1', '/api/console/run');
  if (endpoint === 'transcriptions') return transcribe(path, call, report, signal);
  // Named by us, so that a call that is stopped before its answer can still be found in the ledger.
  const requestId = `playground_${key}`;
  report({ requestId });
  const headers = { 'idempotency-key': key, 'x-request-id': requestId };
  // The sound inside the answer can be played and saved as long as the page is open; a link would end.
  const sent = endpoint === 'audio_speech' ? { ...body, output: 'b64_json' } : body;
  const answer = await send(path, { method: 'POST', headers, body: sent, signal });
  if (endpoint === 'chat') return chat(answer, report);
  if (makesJob(endpoint)) return report({ job: (await answer.json()) as Job });
  const speech = (await answer.json()) as Speech | VoicePreviews;
  report({ speech, credits: speech.usage.credits });
}

async function chat(answer: Response, report: Report): Promise<void> {
  let text = '';
  for await (const frame of readChat(answer)) {
    if (frame.error !== undefined) throw new Refusal(answer.status, frame.error, requestIdOf(answer));
    text += frame.content ?? '';
    report({ text, ...(frame.credits === undefined ? {} : { credits: frame.credits }) });
  }
}

async function transcribe(path: string, { body, clip }: RunCall, report: Report, signal: AbortSignal): Promise<void> {
  if (clip === undefined) throw new Error('a transcription needs a clip');
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    for (const item of [value].flat()) form.append(Array.isArray(value) ? `${name}[]` : name, String(item));
  }
  form.append('file', clip, clip.name);
  const answer = await send(path, { method: 'POST', body: form, signal });
  const requestId = requestIdOf(answer);
  rememberClip(requestId, clip);
  const transcript = (await answer.json()) as Transcription;
  report({ requestId, transcript, credits: transcript.usage.credits });
}

function requestIdOf(answer: Response): string {
  return answer.headers.get('x-request-id') ?? '';
}

/** The request in the log; undefined until it is written there. */
export async function findRequest(requestId: string, signal?: AbortSignal): Promise<LoggedRequest | undefined> {
  const query = { request_id: requestId, limit: 1 };
  const { data } = await api<{ readonly data: readonly LoggedRequest[] }>('/api/console/requests', { query, signal });
  return data[0];
}
