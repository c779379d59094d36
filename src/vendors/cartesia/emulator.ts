import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { formWithFile, secondsOf, speechAs } from '../emulator/sounds.ts';
import { VoiceServer } from '../emulator/voice-server.ts';
import { refusalOfRecording, refusalOfSpeech } from './emulator/checks.ts';
import { ERRORS, type ErrorName, refusalAnswer } from './emulator/errors.ts';

type Json = Record<string, unknown>;

/** A request as the vendor read it. */
interface Submission {
  readonly route: 'speech' | 'recording';
  readonly fields: Json;
  readonly file?: { readonly name: string; readonly type: string; readonly bytes: Buffer };
}

export const VOICE = '694f9389-aac1-45b6-b726-9d9369183238';

/** The vendor's routes for speech and recordings, as strict as it is. It has an account that may be empty or busy. */
export class CartesiaEmulator extends VoiceServer<ErrorName> {
  /** What it did, answered or not. */
  readonly submissions: Submission[] = [];
  readonly voices = new Set([VOICE]);

  protected async answer(recorded: Recorded): Promise<Answer> {
    const { method, path, headers } = recorded;
    const { pathname } = new URL(path, this.url);
    if (headers.authorization !== `Bearer ${this.apiKey}`) return this.refused('badKey');
    if (headers['cartesia-version'] !== '2026-08-14') return this.refused('noVersion');
    if (method === 'GET' && pathname === '/voices') return json(200, { data: [...this.voices].map((id) => ({ id })) });
    if (this.isBroke) return this.refused('noCredit');
    if (this.isBusy) return this.refused('busy');
    if (method === 'POST' && path === '/tts/bytes') return this.#speak(recorded);
    return method === 'POST' && path === '/stt' ? this.#listen(recorded) : this.refused('noRoute');
  }

  async #speak(recorded: Recorded): Promise<Answer> {
    const fields = jsonIn(recorded);
    if (fields === undefined) return this.refused('invalid');
    const refusal = refusalOfSpeech(fields, this.voices);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    this.submissions.push({ route: 'speech', fields });
    const format = fields.output_format as Json;
    const headers = { 'content-type': TYPES[String(format.container)] ?? '', 'x-request-id': this.marker };
    return { status: 200, headers, body: await soundFor(format) };
  }

  async #listen(recorded: Recorded): Promise<Answer> {
    const form = await formWithFile(recorded, 'file');
    if (form === undefined) return this.refused('invalid');
    const { fields, file } = form;
    const refusal = refusalOfRecording(fields);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    const duration = await secondsOf(file.bytes);
    if (duration === undefined) return this.refused('badAudio');
    this.submissions.push({ route: 'recording', fields, file });
    const { language = 'en' } = fields;
    const words = 'timestamp_granularities[]' in fields ? WORDS : undefined;
    return json(200, { type: 'transcript', text: TEXT, duration, language, words, request_id: this.marker });
  }

  protected refused(error: ErrorName): Answer {
    return refusalAnswer(ERRORS[error], this.marker);
  }
}

const TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav', raw: 'audio/pcm' };

/** What it answers to a request for this format. */
export function soundFor({ container, sample_rate: rate }: Readonly<Json>): Promise<Buffer> {
  if (container === 'mp3') return speechAs('mp3');
  return speechAs(container === 'raw' ? 'pcm' : 'wav', Number(rate));
}

/** What the vendor hears in every clip. */
const TEXT = 'Hello there. Hi.';
const WORDS = [
  { word: 'Hello', start: 0, end: 0.4 },
  { word: 'there.', start: 0.5, end: 0.9 },
  { word: 'Hi.', start: 1.2, end: 1.4 },
];
