import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { secondsOf, speechAs } from '../emulator/sounds.ts';
import { VoiceServer } from '../emulator/voice-server.ts';
import { refusalOfListening, refusalOfSpeaking } from './emulator/checks.ts';
import { ERRORS, type ErrorName, refusalAnswer } from './emulator/errors.ts';

/** A request as the vendor read it. */
interface Submission {
  readonly route: string;
  readonly options: Readonly<Record<string, readonly string[]>>;
  readonly text?: string;
  readonly audio?: Buffer;
}

/** The voices that it has, of the vendor's list. */
const VOICES: ReadonlySet<string> = new Set([
  ...['aura-asteria-en', 'aura-zeus-en', 'aura-2-thalia-en', 'aura-2-zeus-en', 'aura-2-lara-de', 'aura-2-carina-es'],
]);

const MODELS = {
  stt: ['nova-3-general', 'nova-3-medical', 'nova-2-phonecall'].map((name) => ({ name, canonical_name: name })),
  tts: [...VOICES].map((voice) => ({ name: voice.split('-').at(-2), canonical_name: voice })),
};

/** The vendor's routes for recordings and speech, as strict as it is. It has an account that may be empty or busy. */
export class DeepgramEmulator extends VoiceServer<ErrorName> {
  /** What it did, answered or not. */
  readonly submissions: Submission[] = [];

  protected async answer(recorded: Recorded): Promise<Answer> {
    const { method, path, headers } = recorded;
    const { pathname, searchParams } = new URL(path, this.url);
    // A key stands behind another word than a token does.
    if (headers.authorization !== `Token ${this.apiKey}`) return this.refused('badKey');
    if (method === 'GET' && pathname === '/v1/projects') return json(200, { projects: [{ project_id: this.marker }] });
    if (method === 'GET' && pathname === '/v1/models') return json(200, MODELS);
    const options = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
    if (method !== 'POST') return this.refused('noProject');
    if (this.isBroke) return this.refused('noCredit');
    if (this.isBusy) return this.refused('busy');
    if (pathname === '/v1/listen') return this.#listen(recorded, options);
    return pathname === '/v1/speak' ? this.#speak(recorded, options) : this.refused('noProject');
  }

  async #listen({ headers, bytes }: Recorded, options: Submission['options']): Promise<Answer> {
    const refusal = refusalOfListening(options);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    if (headers['content-type'] === 'application/json') return this.refused('badJson');
    const seconds = await secondsOf(bytes);
    if (seconds === undefined) return this.refused('badAudio');
    this.submissions.push({ route: 'listen', options, audio: bytes });
    if (options.callback !== undefined) return json(200, { request_id: this.marker });
    return json(200, transcriptFor(options, seconds, this.marker));
  }

  async #speak(recorded: Recorded, options: Submission['options']): Promise<Answer> {
    const fields = jsonIn(recorded);
    if (fields === undefined || Object.keys(fields).some((name) => name !== 'text')) return this.refused('badJson');
    const refusal = refusalOfSpeaking(options, fields.text, VOICES);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    const text = String(fields.text);
    this.submissions.push({ route: 'speak', options, text });
    const body = await soundFor(options);
    const own = { 'dg-request-id': this.marker, 'dg-model-name': this.marker, 'dg-char-count': String(text.length) };
    return { status: 200, headers: { 'content-type': TYPES[options.encoding?.[0] ?? 'mp3'] ?? '', ...own }, body };
  }

  protected refused(error: ErrorName): Answer {
    return refusalAnswer(ERRORS[error], this.marker);
  }
}

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  linear16: 'audio/wav',
};

/** What it answers to these options. */
export function soundFor({ encoding, container, sample_rate: rate }: Submission['options']): Promise<Buffer> {
  const format = encoding?.[0] ?? 'mp3';
  if (format === 'opus') return speechAs('ogg-opus');
  if (format === 'mp3' || format === 'aac' || format === 'flac') return speechAs(format);
  return speechAs(container?.[0] === 'none' ? 'pcm' : 'wav', Number(rate?.[0] ?? 24_000));
}

const WORDS = [
  ['hello', 'Hello', 0, 0.4],
  ['there', 'there.', 0.5, 0.9],
  ['hi', 'Hi.', 1.2, 1.4],
] as const;

/** What the vendor hears in every clip. */
function transcriptFor(options: Submission['options'], seconds: number, marker: string): object {
  const isOn = (name: string) => options[name]?.[0] === 'true';
  const isFormatted = isOn('smart_format') || isOn('punctuate');
  const words = WORDS.map(([word, punctuated_word, start, end]) => {
    return { word, start, end, confidence: 0.98, ...(isFormatted && { punctuated_word }) };
  });
  const phrase = (from: number, to: number) => {
    const part = WORDS.slice(from, to);
    return part.map(([plain, formatted]) => (isFormatted ? formatted : plain)).join(' ');
  };
  const part = (from: number, to: number) => {
    const [start, end] = [WORDS[from]?.[2], WORDS[to - 1]?.[3]];
    return {
      start,
      end,
      confidence: 0.9,
      channel: 0,
      transcript: phrase(from, to),
      words: words.slice(from, to),
      id: 'u',
    };
  };
  const alternatives = [{ transcript: phrase(0, 3), confidence: 0.98, words }];
  const detects = options.detect_language !== undefined && !options.detect_language.includes('false');
  return {
    metadata: {
      transaction_key: 'deprecated',
      request_id: marker,
      sha256: marker,
      created: '2026-11-18T00:00:00.000Z',
      duration: seconds,
      channels: 1,
      models: [marker],
      model_info: {},
    },
    results: {
      channels: [{ alternatives, ...(detects && { detected_language: 'de', language_confidence: 0.9 }) }],
      ...(isOn('utterances') && { utterances: [part(0, 2), part(2, 3)] }),
    },
  };
}
