import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { formWithFile, SPEECH_SECONDS, secondsOf, speechAs } from '../emulator/sounds.ts';
import { VoiceServer } from '../emulator/voice-server.ts';
import { refusalOfDesign, refusalOfRecording, refusalOfSpeech } from './emulator/checks.ts';
import { ERRORS, type ErrorName, refusalAnswer } from './emulator/errors.ts';
import { decodeMsgpack } from './emulator/msgpack.ts';

type Json = Record<string, unknown>;

/** A request as the vendor read it. */
interface Submission {
  readonly route: 'speech' | 'design' | 'recording';
  /** The one that it took, which is another where it did not know the one in the header. */
  readonly model: string;
  readonly fields: Json;
  readonly file?: { readonly name: string; readonly type: string; readonly bytes: Buffer };
}

export const VOICE = '8ef4a238714b45718ce04243307c57a7';
const MODELS = new Set(['s1', 's2-pro', 's2.1-pro', 's2.1-pro-free', 'drama-3-preview']);

/** The vendor's routes for speech, voices and recordings, as strict as it is. It has an account that may be empty or busy. */
export class FishAudioEmulator extends VoiceServer<ErrorName> {
  /** What it did, answered or not. */
  readonly submissions: Submission[] = [];
  readonly voices = new Set([VOICE]);

  protected async answer(recorded: Recorded): Promise<Answer> {
    const { method, path, headers } = recorded;
    if (headers.authorization !== `Bearer ${this.apiKey}`) return this.refused('badKey');
    if (method === 'GET' && path === '/wallet/self/api-credit')
      return json(200, { credit: '7.5', user_id: this.marker });
    if (this.isBroke) return this.refused('noCredit');
    if (this.isBusy) return this.refused('busy');
    switch (`${method} ${path}`) {
      case 'POST /v1/tts':
        return this.#speak(recorded);
      case 'POST /v1/voice-design':
        return this.#design(recorded);
      case 'POST /v1/asr':
        return this.#listen(recorded);
      default:
        return this.refused('noRoute');
    }
  }

  async #speak({ headers, bytes }: Recorded): Promise<Answer> {
    const isJson = headers['content-type'] === 'application/json';
    const fields = isJson || headers['content-type'] === 'application/msgpack' ? read(bytes, isJson) : undefined;
    if (fields === undefined) return this.refused('unreadable');
    const refusal = refusalOfSpeech(fields, isJson, this.voices);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    const header = String(headers.model);
    this.submissions.push({ route: 'speech', model: MODELS.has(header) ? header : 's2.1-pro', fields });
    const format = typeof fields.format === 'string' ? fields.format : 'mp3';
    const body = await soundFor(format, Number(fields.sample_rate ?? (format === 'opus' ? 48_000 : 44_100)));
    return { status: 200, headers: { 'content-type': TYPES[format] ?? '', 'x-request-id': this.marker }, body };
  }

  async #design({ headers, bytes }: Recorded): Promise<Answer> {
    const fields = headers['content-type'] === 'application/json' ? read(bytes, true) : undefined;
    if (fields === undefined) return this.refused('unreadable');
    const refusal = refusalOfDesign(fields, headers.model);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    this.submissions.push({ route: 'design', model: String(headers.model), fields });
    const audio_base64 = (await soundFor('wav', 44_100)).toString('base64');
    const candidates = Array.from({ length: Number(fields.n ?? 2) }, (_, index) => {
      const id = `voice-${this.marker}-${index}`;
      return { id, index, audio_base64, sample_rate: 44_100, duration_ms: SPEECH_SECONDS * 1000 };
    });
    return json(200, { candidates });
  }

  async #listen(recorded: Recorded): Promise<Answer> {
    const isPro = recorded.headers.model === 'transcribe-1-pro';
    const form = await formWithFile(recorded, 'audio');
    if (form === undefined) return this.refused('unreadable');
    const { fields, file } = form;
    const refusal = refusalOfRecording(fields, isPro);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    const seconds = await secondsOf(file.bytes);
    if (seconds === undefined) return this.refused(isPro ? 'badAudio' : 'invalid');
    this.submissions.push({ route: 'recording', model: isPro ? 'transcribe-1-pro' : 'transcribe-1', fields, file });
    return json(200, { ...transcriptFor(fields, isPro), duration: seconds, ...(isPro && { request_id: this.marker }) });
  }

  protected refused(error: ErrorName): Answer {
    return refusalAnswer(ERRORS[error], this.marker);
  }
}

function read(bytes: Buffer, isJson: boolean): Json | undefined {
  try {
    return (isJson ? JSON.parse(bytes.toString()) : decodeMsgpack(bytes)) as Json;
  } catch {
    return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/opus',
};

/** What it answers to such a request. */
export function soundFor(format: string, sampleRate: number): Promise<Buffer> {
  if (format === 'opus') return speechAs('ogg-opus');
  return speechAs(format === 'mp3' || format === 'pcm' ? format : 'wav', sampleRate);
}

const WORDS = [
  { text: 'Hello', start: 0.16, end: 0.48 },
  { text: 'there', start: 0.48, end: 0.9 },
  { text: 'Hi', start: 2, end: 2.2 },
];

/** What the vendor hears in every clip. */
function transcriptFor(fields: Json, isPro: boolean): object {
  // Any word but this one means that times are wanted.
  const hasTimes = 'ignore_timestamps' in fields && String(fields.ignore_timestamps).toLowerCase() !== 'true';
  const laughter = isPro && fields.tag_audio_events !== 'false' ? '[laughter] ' : '';
  const text = isPro ? `<|speaker:0|> Hello there. <|speaker:1|> ${laughter}Hi.` : 'Hello there. Hi.';
  const turn = (speaker: string, text: string, start: number, end: number) => ({ speaker, text, start, end });
  const speaker_turns = [turn('speaker:0', 'Hello there.', 0.16, 0.9), turn('speaker:1', `${laughter}Hi.`, 2, 2.2)];
  return {
    text,
    segments: hasTimes ? WORDS : [],
    language: 'English',
    language_code: 'en',
    ...(isPro && hasTimes && fields.diarize !== 'false' && { speaker_turns }),
  };
}
