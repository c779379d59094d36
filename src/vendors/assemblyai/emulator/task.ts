import { randomUUID } from 'node:crypto';
import type { SentencesResponse, Transcript } from 'assemblyai';

type Json = Readonly<Record<string, unknown>>;

/** What is heard in a recording. Sentences are told by their full stops; every word takes its even share of the time. */
export interface Hearing {
  readonly text?: string | null;
  readonly seconds?: number;
  /** As this vendor writes it; the one that was asked for, or `en_us`. */
  readonly language?: string;
  readonly hasNoWords?: boolean;
}

/** One accepted recording. */
export class AssemblyAiTask {
  readonly id: string = randomUUID();
  /** As it was asked for. */
  readonly body: Json;
  /** The recording, if it was uploaded here. */
  readonly audio: Buffer | undefined;
  #status: Transcript['status'] = 'queued';
  #hearing: Hearing = {};
  #error = '';

  constructor(body: Json, audio: Buffer | undefined) {
    this.body = body;
    this.audio = audio;
  }

  get status(): Transcript['status'] {
    return this.#status;
  }

  begin(): void {
    this.#status = 'processing';
  }

  complete(hearing: Hearing): void {
    this.#hearing = hearing;
    this.#status = 'completed';
  }

  fail(error: string): void {
    this.#error = error;
    this.#status = 'error';
  }

  /** As much of the vendor's document as its own type says is always there, and what this task adds to it. */
  document(marker: string): Transcript {
    const isDone = this.#status === 'completed';
    const { language_code: asked } = this.body;
    return {
      id: this.id,
      language_model: `assemblyai_default ${marker}`,
      acoustic_model: 'assemblyai_default',
      language_code: this.#hearing.language ?? (typeof asked === 'string' ? asked : 'en_us'),
      language_confidence: null,
      language_codes: null,
      language_confidence_threshold: null,
      status: this.#status,
      audio_url: String(this.body.audio_url),
      text: isDone ? this.#text : null,
      words: isDone && this.#hearing.hasNoWords !== true ? this.#words : null,
      audio_duration: isDone ? this.#seconds : null,
      confidence: isDone ? 0.95 : null,
      speech_model: null,
      speech_models: [...this.#models],
      speech_model_used: this.#models[0] ?? null,
      auto_highlights: false,
      redact_pii: false,
      summarization: false,
      webhook_auth: false,
      ...(this.#status === 'error' && { error: this.#error }),
    };
  }

  sentences(): SentencesResponse {
    const ends = this.#words.flatMap(({ text }, at) => (/[.?!]$/.test(text) ? [at + 1] : []));
    const parts = ends.map((end, at) => this.#words.slice(ends[at - 1] ?? 0, end));
    const sentences = parts.map((words) => ({
      text: words.map(({ text }) => text).join(' '),
      start: words[0]?.start ?? 0,
      end: words.at(-1)?.end ?? 0,
      confidence: 0.95,
      speaker: null,
      words,
    }));
    return { id: this.id, confidence: 0.95, audio_duration: this.#seconds, sentences };
  }

  get #models(): readonly string[] {
    const { speech_models: models } = this.body;
    return Array.isArray(models) ? models.map(String) : [];
  }

  get #text(): string | null {
    return this.#hearing.text === undefined ? 'Hello there. How are you?' : this.#hearing.text;
  }

  get #seconds(): number {
    return this.#hearing.seconds ?? 5;
  }

  get #words(): NonNullable<Transcript['words']> {
    const words = (this.#text ?? '').split(' ').filter((word) => word !== '');
    const at = (index: number) => Math.round((this.#seconds * 1000 * index) / words.length);
    return words.map((text, index) => ({ text, start: at(index), end: at(index + 1), confidence: 0.9, speaker: null }));
  }
}
