import { randomUUID } from 'node:crypto';
import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { formWithFile, secondsOf } from '../emulator/sounds.ts';
import { VoiceServer } from '../emulator/voice-server.ts';
import { refusalOfTask } from './emulator/checks.ts';
import { ERRORS, type ErrorName, refusalAnswer } from './emulator/errors.ts';

type Json = Readonly<Record<string, unknown>>;

interface Upload {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly seconds: number;
}

/** One accepted recording, which would be billed. */
interface Task {
  readonly id: string;
  /** As it was asked for. */
  readonly body: Json;
  readonly seconds: number;
  reads: number;
  errorCode?: number;
}

/** The vendor's routes for recordings, as strict as it is. It has an account that may be empty or busy. */
export class GladiaEmulator extends VoiceServer<ErrorName> {
  /** The recordings, by their address. */
  readonly uploads = new Map<string, Upload>();
  /** What it accepted, answered or not. */
  readonly submissions: Task[] = [];
  /** How often a task is read before it is done. */
  readsUntilDone = 0;

  /** As if it had been deleted; it was accepted all the same. */
  lose(id: string): void {
    const at = this.submissions.findIndex((task) => task.id === id);
    this.submissions.splice(at, 1);
  }

  protected async answer(recorded: Recorded): Promise<Answer> {
    const { method, path, headers } = recorded;
    if (headers['x-gladia-key'] !== this.apiKey) return this.refused('badKey');
    if (method === 'GET') return this.#read(path);
    if (this.isBroke) return this.refused('noCredit');
    if (this.isBusy) return this.refused('busy');
    if (method === 'POST' && path === '/v2/upload') return this.#upload(recorded);
    return method === 'POST' && path === '/v2/pre-recorded' ? this.#create(recorded) : this.refused('noTask');
  }

  async #upload(recorded: Recorded): Promise<Answer> {
    const form = await formWithFile(recorded, 'audio');
    if (form === undefined || Object.keys(form.fields).length > 0) return this.refused('invalid');
    const { name, bytes } = form.file;
    const seconds = await secondsOf(bytes);
    if (seconds === undefined) return this.refused('badAudio');
    const id = randomUUID();
    const audio_url = `https://api.gladia.io/file/${id}`;
    this.uploads.set(audio_url, { ...form.file, seconds });
    const file = { id, filename: name, extension: name.split('.').at(-1), size: bytes.length };
    return json(200, { audio_url, audio_metadata: { ...file, audio_duration: seconds, number_of_channels: 1 } });
  }

  #create(recorded: Recorded): Answer {
    const body = jsonIn(recorded);
    if (body === undefined) return this.refused('invalid');
    const refusal = refusalOfTask(body, new Set(this.uploads.keys()));
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    const id = randomUUID();
    this.submissions.push({ id, body, seconds: this.uploads.get(String(body.audio_url))?.seconds ?? 0, reads: 0 });
    return json(201, { id, result_url: `https://api.gladia.io/v2/pre-recorded/${id}` });
  }

  #read(path: string): Answer {
    const { pathname } = new URL(path, this.url);
    if (pathname === '/v2/pre-recorded') {
      const items = this.submissions.map(({ id }) => ({ id, kind: 'pre-recorded', request_id: this.marker }));
      return json(200, { first: path, current: path, next: null, items });
    }
    const task = this.submissions.find(({ id }) => pathname === `/v2/pre-recorded/${id}`);
    return task === undefined ? this.refused('noTask') : json(200, this.#document(task));
  }

  #document(task: Task): object {
    const reads = task.reads++;
    const isDone = reads >= this.readsUntilDone;
    const open = reads === 0 ? 'queued' : 'processing';
    const { id, errorCode: error_code, body } = task;
    const ended = error_code === undefined ? 'done' : 'error';
    const status = isDone ? ended : open;
    return {
      ...{ id, request_id: this.marker, version: 2, kind: 'pre-recorded', created_at: '2026-11-18T00:00:00.000Z' },
      status,
      error_code: status === 'error' ? error_code : null,
      file: { id: 'f', filename: this.marker },
      request_params: body,
      result: status === 'done' ? resultOf(task) : null,
    };
  }

  protected refused(error: ErrorName): Answer {
    return refusalAnswer(ERRORS[error], this.marker);
  }
}

/** What the vendor hears in every clip. */
const UTTERANCES = [
  {
    ...{ text: 'Hello there.', start: 0, end: 0.9 },
    words: [
      { word: 'Hello', start: 0, end: 0.4, confidence: 0.9 },
      { word: ' there.', start: 0.5, end: 0.9, confidence: 0.9 },
    ],
  },
  { ...{ text: ' Hi.', start: 1.2, end: 1.4 }, words: [{ word: ' Hi.', start: 1.2, end: 1.4, confidence: 0.9 }] },
];

function resultOf({ body, seconds }: Task): object {
  const { languages } = (body.language_config ?? {}) as { languages?: readonly string[] };
  const [language] = languages ?? ['de'];
  const utterances = UTTERANCES.map((each) => ({ ...each, language, confidence: 0.9, channel: 0 }));
  const billing = { billing_time: seconds, transcription_time: 1 };
  return {
    metadata: { audio_duration: seconds, number_of_distinct_channels: 1, ...billing },
    transcription: { full_transcript: 'Hello there. Hi.', languages: [language], utterances },
  };
}
