import { toneAs } from '../../../test/support/media-samples.ts';
import { byteSourceOf, measure, sniff } from '../../media/index.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
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
const PREVIEW_SECONDS = 0.5;

/** The vendor's routes for speech, voices and recordings, as strict as it is. It has an account that may be empty or busy. */
export class FishAudioEmulator extends ScriptedServer {
  /** What it did, answered or not. */
  readonly submissions: Submission[] = [];
  readonly voices = new Set([VOICE]);
  isBroke = false;
  isBusy = false;
  readonly #apiKey: string;
  readonly #marker: string;

  constructor(apiKey: string, marker: string) {
    super((recorded) => this.#answer(recorded));
    this.#apiKey = apiKey;
    this.#marker = marker;
  }

  /** The next requests are refused in this way. */
  refuse(...errors: readonly ErrorName[]): void {
    for (const error of errors) this.script({ kind: 'instead', ...this.#refused(error) });
  }

  async #answer(recorded: Recorded): Promise<Answer> {
    const { method, path, headers } = recorded;
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return this.#refused('badKey');
    if (method === 'GET' && path === '/wallet/self/api-credit') return json({ credit: '7.5', user_id: this.#marker });
    if (this.isBroke) return this.#refused('noCredit');
    if (this.isBusy) return this.#refused('busy');
    switch (`${method} ${path}`) {
      case 'POST /v1/tts':
        return this.#speak(recorded);
      case 'POST /v1/voice-design':
        return this.#design(recorded);
      case 'POST /v1/asr':
        return this.#listen(recorded);
      default:
        return this.#refused('noRoute');
    }
  }

  async #speak({ headers, bytes }: Recorded): Promise<Answer> {
    const isJson = headers['content-type'] === 'application/json';
    const fields = isJson || headers['content-type'] === 'application/msgpack' ? read(bytes, isJson) : undefined;
    if (fields === undefined) return this.#refused('unreadable');
    const refusal = refusalOfSpeech(fields, isJson, this.voices);
    if (refusal !== undefined) return refusalAnswer(refusal, this.#marker);
    const header = String(headers.model);
    this.submissions.push({ route: 'speech', model: MODELS.has(header) ? header : 's2.1-pro', fields });
    const format = typeof fields.format === 'string' ? fields.format : 'mp3';
    const body = await soundFor(format, Number(fields.sample_rate ?? (format === 'opus' ? 48_000 : 44_100)));
    return { status: 200, headers: { 'content-type': TYPES[format] ?? '', 'x-request-id': this.#marker }, body };
  }

  async #design({ headers, bytes }: Recorded): Promise<Answer> {
    const fields = headers['content-type'] === 'application/json' ? read(bytes, true) : undefined;
    if (fields === undefined) return this.#refused('unreadable');
    const refusal = refusalOfDesign(fields, headers.model);
    if (refusal !== undefined) return refusalAnswer(refusal, this.#marker);
    this.submissions.push({ route: 'design', model: String(headers.model), fields });
    const audio_base64 = (await soundFor('wav', 44_100)).toString('base64');
    const candidates = Array.from({ length: Number(fields.n ?? 2) }, (_, index) => {
      const id = `voice-${this.#marker}-${index}`;
      return { id, index, audio_base64, sample_rate: 44_100, duration_ms: PREVIEW_SECONDS * 1000 };
    });
    return json({ candidates });
  }

  async #listen({ headers, bytes }: Recorded): Promise<Answer> {
    const isPro = headers.model === 'transcribe-1-pro';
    const type = headers['content-type'] ?? '';
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
      .formData()
      .catch(() => undefined);
    const audio = form?.get('audio');
    if (form === undefined || !(audio instanceof File)) return this.#refused('unreadable');
    const fields = Object.fromEntries([...form].filter(([name]) => name !== 'audio'));
    const refusal = refusalOfRecording(fields, isPro);
    if (refusal !== undefined) return refusalAnswer(refusal, this.#marker);
    const file = { name: audio.name, type: audio.type, bytes: Buffer.from(await audio.arrayBuffer()) };
    const seconds = await secondsOf(file.bytes);
    if (seconds === undefined) return this.#refused(isPro ? 'badAudio' : 'invalid');
    this.submissions.push({ route: 'recording', model: isPro ? 'transcribe-1-pro' : 'transcribe-1', fields, file });
    return json({ ...transcriptFor(fields, isPro), duration: seconds, ...(isPro && { request_id: this.#marker }) });
  }

  #refused(error: ErrorName): Answer {
    return refusalAnswer(ERRORS[error], this.#marker);
  }
}

function json(body: object): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
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
const WAV_HEAD_BYTES = 44;
const sounds = new Map<string, Promise<Buffer>>();

/** Real sound in one of the formats; the same again for the same question. */
export function soundFor(format: string, sampleRate: number): Promise<Buffer> {
  const name = `${format} ${sampleRate}`;
  const sound = sounds.get(name) ?? encode(format, sampleRate);
  sounds.set(name, sound);
  return sound;
}

async function encode(format: string, sampleRate: number): Promise<Buffer> {
  const seconds = PREVIEW_SECONDS;
  if (format === 'opus') return toneAs('ogg-opus', { seconds });
  if (format === 'mp3') return toneAs('mp3', { seconds });
  const wave = await toneAs('wav', { seconds, sampleRate });
  return format === 'pcm' ? wave.subarray(WAV_HEAD_BYTES) : wave;
}

/** How long a file of a known kind is. */
async function secondsOf(bytes: Buffer): Promise<number | undefined> {
  const sniffed = sniff(bytes);
  if (sniffed === undefined) return undefined;
  return (await measure(byteSourceOf(bytes), sniffed).catch(() => undefined))?.seconds;
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
