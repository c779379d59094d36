import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, type Script, ScriptedServer } from '../emulator/scripted-server.ts';
import { secondsOf } from '../emulator/sounds.ts';
import { keyRefusal, readSubmission, type Submission } from './emulator/checks.ts';
import { ERRORS, type ErrorName, refusalAnswer, today } from './emulator/errors.ts';
import { songSeconds } from './emulator/music-checks.ts';
import { contentTypeOf, soundOf } from './emulator/sounds.ts';

export interface ElevenLabsOptions {
  /** The key that it asks for. */
  readonly apiKey?: string;
  /** The voices that it has; without a list it has every one. */
  readonly voices?: readonly string[];
  /** The models that it lists; it answers for every one. */
  readonly models?: readonly string[];
  /** Whether the account has a webhook for transcripts. */
  readonly hasWebhook?: boolean;
  /** How often a stored transcript is asked for in vain. */
  readonly readsUntilStored?: number;
  /** Stands in every header, error and made-up id. */
  readonly marker?: string;
}

/** The speech, music, effect, voice design and transcription routes of the vendor, as strict as it is. */
export class ElevenLabsEmulator {
  /** What it did, answered or not. */
  readonly submissions: Submission[] = [];
  readonly #server = new ScriptedServer((recorded) => this.#answer(recorded));
  readonly #options: ElevenLabsOptions;
  readonly #marker: string;
  /** By id: the document, and how often it has been asked for. */
  readonly #transcripts = new Map<string, { document: object; reads: number }>();

  constructor({ marker = 'upstream-marker', ...options }: ElevenLabsOptions = {}) {
    this.#options = options;
    this.#marker = marker;
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** The bare origin, as this vendor's addresses are. */
  get url(): string {
    return this.#server.url;
  }

  get requests(): readonly Recorded[] {
    return this.#server.requests;
  }

  script(...scripts: readonly Script[]): void {
    this.#server.script(...scripts);
  }

  /** The next requests are refused in this way. */
  refuse(...errors: readonly ErrorName[]): void {
    for (const error of errors) this.script({ kind: 'instead', ...refusalAnswer(ERRORS[error], this.#marker) });
  }

  async #answer(recorded: Recorded): Promise<Answer> {
    const { apiKey = 'xi-secret', voices } = this.#options;
    if (/^GET \/v2\/voices(\?|$)/.test(`${recorded.method} ${recorded.path}`)) {
      const refusal = keyRefusal(recorded, { apiKey, voices });
      if (refusal !== undefined) return refusalAnswer(refusal, this.#marker);
      return document({ voices: (voices ?? []).map((voice_id) => ({ voice_id })), has_more: false });
    }
    if (recorded.method === 'GET' && recorded.path === '/v1/models') {
      const refusal = keyRefusal(recorded, { apiKey, voices });
      if (refusal !== undefined) return refusalAnswer(refusal, this.#marker);
      const listed = (this.#options.models ?? []).map((model_id) => ({ model_id, name: model_id }));
      return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(listed) };
    }
    const [, stored] = STORED.exec(recorded.path) ?? [];
    if (recorded.method === 'GET' && stored !== undefined) {
      const refusal = keyRefusal(recorded, { apiKey, voices });
      return refusal === undefined ? this.#stored(stored) : refusalAnswer(refusal, this.#marker);
    }
    const read = await readSubmission(recorded, { apiKey, voices });
    if ('detail' in read) return refusalAnswer(read, this.#marker);
    const answer = await this.#work(read);
    if (answer.status < 300) this.submissions.push(read);
    const own = {
      'request-id': `req_${this.#marker}`,
      'character-cost': '7',
      'current-concurrent-requests': '1',
      'maximum-concurrent-requests': '10',
    };
    return { ...answer, headers: { ...own, ...answer.headers } };
  }

  async #work(submission: Submission): Promise<Answer> {
    const { route, query, fields } = submission;
    const outputFormat = query.output_format ?? 'mp3_44100_128';
    switch (route) {
      case 'speech':
      case 'speech stream':
        return sounding(outputFormat, SPOKEN_SECONDS);
      case 'effect':
        return sounding(outputFormat, Number(fields.duration_seconds ?? SPOKEN_SECONDS));
      case 'music':
        return sounding(outputFormat === 'auto' ? 'mp3_48000_192' : outputFormat, songSeconds(fields));
      case 'design':
        return document(await this.#previews(outputFormat, fields));
      case 'transcription':
        return this.#transcribe(submission);
    }
  }

  async #previews(
    outputFormat: string,
    { text, stream_previews: withoutSound }: Submission['fields'],
  ): Promise<object> {
    const sound = await soundOf(outputFormat, SPOKEN_SECONDS);
    const previews = [1, 2, 3].map((at) => ({
      audio_base_64: withoutSound === true ? '' : sound.toString('base64'),
      generated_voice_id: `voice_${this.#marker}_${at}`,
      media_type: contentTypeOf(outputFormat),
      duration_secs: SPOKEN_SECONDS,
      language: 'en',
    }));
    return { previews, text: text ?? 'A text that the vendor thought of.' };
  }

  async #transcribe({ fields, file }: Submission): Promise<Answer> {
    const seconds = file && (await secondsOf(file.bytes));
    if (seconds === undefined)
      return refusalAnswer(today(400, 'validation_error', 'invalid_audio_format'), this.#marker);
    if (seconds < 0.1) return refusalAnswer(today(400, 'validation_error', 'audio_too_short'), this.#marker);
    const transcription_id = `transcription_${this.#marker}_${this.#transcripts.size}`;
    const transcript = {
      language_code: 'eng',
      language_probability: 0.98,
      text: HEARD.map(([text]) => text).join(''),
      words: HEARD.map((item) => heardAs(item, fields)),
      transcription_id,
      audio_duration_secs: seconds,
    };
    if (fields.webhook !== true) return document(transcript);
    if (this.#options.hasWebhook !== true) return refusalAnswer(ERRORS.noWebhook, this.#marker);
    this.#transcripts.set(transcription_id, { document: transcript, reads: 0 });
    return document({ message: 'Request processed successfully', request_id: this.#marker, transcription_id });
  }

  #stored(id: string): Answer {
    const transcript = this.#transcripts.get(id);
    if (transcript === undefined || transcript.reads++ < (this.#options.readsUntilStored ?? 0))
      return refusalAnswer(ERRORS.noTranscript, this.#marker);
    return document(transcript.document);
  }
}

const SPOKEN_SECONDS = 0.5;
const STORED = /^\/v1\/speech-to-text\/transcripts\/([^/?]+)$/;

async function sounding(outputFormat: string, seconds: number): Promise<Answer> {
  const body = await soundOf(outputFormat, seconds);
  return { status: 200, headers: { 'content-type': contentTypeOf(outputFormat) }, body };
}

function document(body: object): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

type Item = readonly [text: string, start: number, end: number, type: string, speaker: string];

/** What the vendor hears in every clip. */
const HEARD: readonly Item[] = [
  ['Hello', 0, 0.4, 'word', 'speaker_0'],
  [' ', 0.4, 0.5, 'spacing', 'speaker_0'],
  ['there.', 0.5, 0.9, 'word', 'speaker_0'],
  [' ', 0.9, 1, 'spacing', 'speaker_0'],
  ['(laughter)', 1, 1.3, 'audio_event', 'speaker_0'],
  [' ', 1.3, 1.4, 'spacing', 'speaker_0'],
  ['Hi', 1.4, 1.6, 'word', 'speaker_1'],
];

function heardAs([text, start, end, type, speaker_id]: Item, fields: Submission['fields']): object {
  const { timestamps_granularity: granularity = 'word', diarize } = fields;
  const step = (end - start) / text.length;
  const characters = text.split('').map((each, at) => {
    return { text: each, start: start + at * step, end: start + (at + 1) * step };
  });
  return {
    text,
    type,
    logprob: -0.01,
    ...(granularity !== 'none' && { start, end }),
    ...(granularity === 'character' && { characters }),
    ...(diarize === true && { speaker_id }),
  };
}
