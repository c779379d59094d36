import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { SPEECH_SECONDS, speechAs } from '../emulator/sounds.ts';
import { VoiceServer } from '../emulator/voice-server.ts';
import { refusalOfSpeech } from './emulator/checks.ts';
import { ERRORS, type ErrorName, refusalAnswer } from './emulator/errors.ts';

type Json = Record<string, unknown>;

/** A request as the vendor read it. */
interface Submission {
  readonly route: 'file' | 'json';
  readonly fields: Json;
}

export const LIBRARY_VOICE = 'Ava Song';
export const LIBRARY_VOICE_ID = '9e068547-5ba4-4c8e-8e03-69282a008f04';
export const OWN_VOICE = '5bb7de05-c8fe-426a-8fcc-ba4fc4ce9f9c';
const LISTED = { id: LIBRARY_VOICE_ID, name: LIBRARY_VOICE, provider: 'HUME_AI' };

/** The vendor's routes for speech, as strict as it is. It has an account that may be empty or busy. */
export class HumeEmulator extends VoiceServer<ErrorName> {
  /** What it did, answered or not. */
  readonly submissions: Submission[] = [];
  readonly #library = new Set([LIBRARY_VOICE, LIBRARY_VOICE_ID]);
  readonly #own = new Set([OWN_VOICE, 'my voice']);

  protected async answer(recorded: Recorded): Promise<Answer> {
    const { method, path, headers } = recorded;
    const { pathname, searchParams } = new URL(path, this.url);
    if (headers['user-agent'] === undefined) return this.refused('atTheEdge');
    if (headers['x-hume-api-key'] !== this.apiKey) return this.refused('badKey');
    if (method === 'GET' && pathname === '/v0/tts/voices' && searchParams.has('provider'))
      return json(200, { page_number: 0, page_size: 1, total_pages: 1, voices_page: [LISTED] });
    if (this.isBroke) return this.refused('noCredit');
    if (this.isBusy) return this.refused('busy');
    if (method === 'POST' && path === '/v0/tts/file') return this.#speak(recorded, 'file');
    return method === 'POST' && path === '/v0/tts' ? this.#speak(recorded, 'json') : this.refused('noRoute');
  }

  async #speak({ headers, bytes }: Recorded, route: Submission['route']): Promise<Answer> {
    const fields = jsonIn({ headers, bytes });
    if (fields === undefined) return this.refused('invalid');
    const refusal = refusalOfSpeech(fields, this.#library, this.#own);
    if (refusal !== undefined) return refusalAnswer(refusal, this.marker);
    this.submissions.push({ route, fields });
    const { type: format = 'mp3' } = (fields.format ?? {}) as { type?: string };
    const sound = await soundFor(format);
    if (route === 'json') return json(200, this.#generations(sound, format, Number(fields.num_generations ?? 1)));
    return { status: 200, headers: { 'content-type': TYPES[format] ?? '', 'x-request-id': this.marker }, body: sound };
  }

  #generations(sound: Buffer, format: string, length: number): object {
    const audio = sound.toString('base64');
    const generations = Array.from({ length }, (_, index) => {
      const generation_id = `generation-${index}`;
      const snippet = { id: 's', generation_id, audio, text: 'Hello', timestamps: [], utterance_index: 0 };
      const encoding = { format, sample_rate: 48_000 };
      return {
        generation_id,
        audio,
        duration: SPEECH_SECONDS,
        encoding,
        file_size: sound.length,
        snippets: [[snippet]],
      };
    });
    return { generations, request_id: this.marker };
  }

  protected refused(error: ErrorName): Answer {
    return refusalAnswer(ERRORS[error], this.marker);
  }
}

const TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav', pcm: 'audio/pcm' };

/** What it answers to a request for this format. */
export function soundFor(format: string): Promise<Buffer> {
  return speechAs(format === 'mp3' || format === 'pcm' ? format : 'wav');
}
