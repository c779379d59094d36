import { randomUUID } from 'node:crypto';
import type { QueueStatus } from '@fal-ai/client';
import { ERRORS, type ErrorName, type Failure } from './errors.ts';
import { type FileHost, smallPng } from './files.ts';
import { MODELS } from './models.ts';
import { heardBy } from './transcription-models.ts';

type Json = Readonly<Record<string, unknown>>;

/** How a run ends. A failure is found at the result; the newer servers name it in the status too. */
export type Outcome =
  | { readonly kind: 'success'; readonly change?: (result: Json) => Json }
  | { readonly kind: 'failure'; readonly error: ErrorName; readonly isInStatus?: boolean };

export type State = QueueStatus['status'];

/** What its pictures, clips and pieces are; without one, a small picture. */
export interface Files {
  readonly image?: Buffer;
  readonly video?: Buffer;
  readonly audio?: Buffer;
}

/** The one text that clients compare. */
export const STILL_RUNNING = 'Request is still in progress';

/** One accepted request. */
export class FalTask {
  readonly id = randomUUID();
  readonly model: string;
  readonly input: Json;
  readonly #app: string;
  #outcome: Outcome;
  #state: State = 'IN_QUEUE';

  constructor(model: string, app: string, input: Json, outcome: Outcome) {
    this.model = model;
    this.input = input;
    this.#app = app;
    this.#outcome = outcome;
  }

  get app(): string {
    return this.#app;
  }

  get state(): State {
    return this.#state;
  }

  advance(to: State = this.#state === 'IN_QUEUE' ? 'IN_PROGRESS' : 'COMPLETED'): void {
    this.#state = to;
  }

  cancel(): void {
    this.#outcome = { kind: 'failure', error: 'cancelled', isInStatus: true };
    this.#state = 'COMPLETED';
  }

  /** The answer to a submission and to a question after its status. */
  statusAt(origin: string, hasLogs: boolean): QueueStatus & Json {
    const response_url = `${origin}/${this.#app}/requests/${this.id}`;
    const links = { response_url, status_url: `${response_url}/status`, cancel_url: `${response_url}/cancel` };
    const told = { request_id: this.id, ...links };
    const logs = hasLogs
      ? [{ message: 'step', level: 'INFO' as const, source: 'USER' as const, timestamp: '2026-01-01T00:00:00Z' }]
      : [];
    switch (this.#state) {
      case 'IN_QUEUE':
        return { status: 'IN_QUEUE', ...told, queue_position: 0 };
      case 'IN_PROGRESS':
        return { status: 'IN_PROGRESS', ...told, logs };
      case 'COMPLETED':
        return { status: 'COMPLETED', ...told, logs, metrics: { inference_time: 1.5 }, ...this.#errorInStatus() };
    }
  }

  #errorInStatus(): Json {
    if (this.#outcome.kind === 'success' || this.#outcome.isInStatus !== true) return {};
    const { body } = ERRORS[this.#outcome.error];
    return { error: JSON.stringify(body.detail), ...('error_type' in body && { error_type: body.error_type }) };
  }

  result(host: FileHost, files: Files, marker: string): Failure | { readonly status: 200; readonly body: Json } {
    if (this.#state !== 'COMPLETED') return { status: 400, body: { detail: STILL_RUNNING } };
    const outcome = this.#outcome;
    if (outcome.kind === 'failure') return ERRORS[outcome.error];
    const body = this.#made(host, files, marker);
    return { status: 200, body: outcome.change?.(body) ?? body };
  }

  #made(host: FileHost, files: Files, marker: string): Json {
    const place = MODELS.get(this.model)?.output ?? 'images';
    if (place === 'images') {
      const count = Number(this.input.num_images ?? 1);
      const images = Array.from({ length: count }, (_, at) => ({
        ...this.#file(host, files.image, 'image/png', `${marker}-${at}.png`),
        width: 2,
        height: 2,
      }));
      return { images, seed: 7, has_nsfw_concepts: images.map(() => false), prompt: this.input.prompt, timings: {} };
    }
    if (place === 'transcript') return heardBy(this.model, this.input);
    const isVideo = place === 'video';
    const [bytes, type, end] = isVideo ? [files.video, 'video/mp4', 'mp4'] : [files.audio, 'audio/mpeg', 'mp3'];
    return { [place]: this.#file(host, bytes, type, `${marker}.${end}`), seed: 7 };
  }

  #file(host: FileHost, bytes: Buffer = smallPng(), type: string, name: string): Json {
    const url = host.add(`${this.id}/${name}`, bytes, type);
    return { url, content_type: type, file_name: name, file_size: bytes.length };
  }
}
