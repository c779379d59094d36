import type { IncomingMessage, ServerResponse } from 'node:http';
import { objectIn } from '../emulator/json.ts';
import { type Recorded, RecordingServer, written } from '../emulator/recording-server.ts';
import { documentOf, ERRORS, errorBody, framesOf, type Quirks, type Speaker } from './emulator/answers.ts';
import { formatOf, soundAs, transcriptOf } from './emulator/audio.ts';
import { type Recording, readRecording, readSpeech } from './emulator/audio-checks.ts';
import { authorizationRefusal, type Refusal, refusalOf, type Terms } from './emulator/checks.ts';
import { type EmbeddingServer, embeddingsOf, readEmbedding } from './emulator/embeddings.ts';
import { Gallery } from './emulator/images.ts';
import { readSubmission, type Submission } from './emulator/images-checks.ts';
import { eventsOf, refusalOfResponse, responseOf } from './emulator/responses.ts';
import { isDone, type Script, type SocketFault } from './emulator/scripts.ts';
import { COMPATIBLE } from './emulator/servers.ts';

export { ERRORS, type Quirks } from './emulator/answers.ts';
export type { Script } from './emulator/scripts.ts';
export { COMPATIBLE } from './emulator/servers.ts';

type Json = Record<string, unknown>;

export interface OpenAiOptions {
  /** The key that it asks for; without one it asks for none. */
  readonly apiKey?: string;
  /** The models that it has; without a list it has every one. */
  readonly models?: readonly string[];
  /** Stands in every header, document, error and frame, but not in what the model says. */
  readonly marker?: string;
  /** One of COMPATIBLE; without it, the format's author. */
  readonly speaks?: string;
  readonly quirks?: Quirks;
  /** Whose ways it has with vectors; without it, those of the format's author. */
  readonly embeds?: EmbeddingServer;
  /** Overlooks fields that it does not know. */
  readonly isLenient?: boolean;
  /** What a request for sound or about sound gets for which nothing was scripted. */
  readonly scriptOf?: (recorded: Recorded) => Script | undefined;
}

/** The chat, embedding, image and audio routes of the format's author, as strict as it is, or with the ways of a server that imitates it. */
export class OpenAiEmulator extends RecordingServer {
  /** The image requests whose work was done, answered or not. */
  readonly submissions: Submission[] = [];
  /** The texts that were spoken, and the recordings that were written down, as they were read. */
  readonly speeches: Json[] = [];
  readonly recordings: Recording[] = [];
  readonly #gallery = new Gallery();
  readonly #scripts: Script[] = [];
  readonly #marker: string;
  readonly #quirks: Quirks;
  readonly #terms: Terms;
  readonly #embeds: EmbeddingServer;
  readonly #scriptOf: (recorded: Recorded) => Script | undefined;

  constructor(options: OpenAiOptions = {}) {
    super();
    const { apiKey, models, marker = 'upstream-marker', speaks, quirks, isLenient, scriptOf } = options;
    this.#scriptOf = scriptOf ?? (() => undefined);
    const server = speaks === undefined ? undefined : COMPATIBLE[speaks];
    this.#marker = marker;
    this.#embeds = options.embeds ?? 'openai';
    this.#quirks = { ...server?.quirks, ...quirks };
    this.#terms = {
      path: `${new URL(server?.address ?? 'https://api.openai.com/v1').pathname}/chat/completions`,
      apiKey,
      models,
      isLenient: isLenient ?? server !== undefined,
      forbids: server?.forbids ?? [],
      checks: server?.checks,
      forbidsMembers: server?.forbidsMembers,
      knowsDeveloper: server === undefined,
    };
  }

  /** With the version segment, as this vendor's addresses are. */
  override get url(): string {
    return `${this.origin}/v1`;
  }

  /** One for each request to come; when they are used up, the model greets. */
  script(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [next] = this.#scripts;
    const resets = next?.kind === 'fault' && next.fault === 'reset before the body';
    if (resets) this.#scripts.shift();
    const recorded = await this.receive(request, response, resets);
    if (recorded === undefined) return;
    for (const [name, value] of Object.entries(this.#headers())) response.setHeader(name, value);
    if (/\/(images|generated)\//.test(recorded.path)) return this.#serveImages(recorded, response);
    if (recorded.path.endsWith('/audio/speech')) return this.#speak(recorded, response);
    if (recorded.path.endsWith('/audio/transcriptions')) return this.#write(recorded, response, 'transcribe');
    if (recorded.path.endsWith('/audio/translations')) return this.#write(recorded, response, 'translate');
    if (recorded.path.endsWith('/responses')) return this.#respond(recorded, response);
    if (recorded.path.endsWith('/embeddings')) return this.#embed(recorded, response);
    if (recorded.method === 'GET' && recorded.path.endsWith('/models')) return this.#list(recorded, response);
    const refusal = refusalOf(recorded, this.#terms);
    if (refusal !== undefined) this.#refuse(response, refusal);
    else await this.#follow(this.#scripts.shift() ?? { kind: 'answer' }, objectIn(recorded.bytes) ?? {}, response);
  }

  #list({ headers }: Recorded, response: ServerResponse): void {
    const refusal = authorizationRefusal(headers.authorization, this.#terms.apiKey);
    if (refusal !== undefined) {
      this.#refuse(response, refusal);
      return;
    }
    const data = (this.#terms.models ?? []).map((id) => ({ id, object: 'model', created: 0, owned_by: this.#marker }));
    this.#sendDocument(response, 200, { object: 'list', data });
  }

  async #serveImages(recorded: Recorded, response: ServerResponse): Promise<void> {
    const picture = this.#gallery.at(recorded.path);
    if (picture !== undefined) {
      response.writeHead(200, { 'content-type': picture.type });
      response.end(picture.bytes);
      return;
    }
    const route = recorded.path.endsWith('/edits') ? 'edits' : 'generations';
    const read = await readSubmission(recorded, route, this.#termsAt(`images/${route}`));
    if ('refusal' in read) return this.#refuse(response, read.refusal);
    const script = this.#scripts.shift() ?? { kind: 'pictures' };
    if (isDone(script)) this.submissions.push(read);
    if (script.kind !== 'pictures') return this.#follow(script, read.fields, response);
    const document = await this.#gallery.documentOf(script, read, this.origin, this.#marker);
    this.#sendDocument(response, 200, document);
  }

  async #speak(recorded: Recorded, response: ServerResponse): Promise<void> {
    const read = readSpeech(recorded, this.#termsAt('audio/speech'));
    if ('refusal' in read) return this.#refuse(response, read.refusal);
    const script = this.#scripts.shift() ?? this.#scriptOf(recorded) ?? { kind: 'sound' };
    if (isDone(script)) this.speeches.push(read.fields);
    if (script.kind !== 'sound') return this.#follow(script, read.fields, response);
    const { format, type } = formatOf(read.fields);
    const { pieces = [await soundAs(format)], end = 'close', contentType = type } = script;
    response.writeHead(200, { 'content-type': contentType });
    response.flushHeaders();
    for await (const piece of pieces) await written(response, piece);
    if (end === 'reset') response.socket?.resetAndDestroy();
    if (end === 'close') response.end();
  }

  async #write(recorded: Recorded, response: ServerResponse, task: Recording['task']): Promise<void> {
    const place = task === 'translate' ? 'audio/translations' : 'audio/transcriptions';
    const recording = await readRecording(recorded, this.#termsAt(place), task);
    if ('refusal' in recording) return this.#refuse(response, recording.refusal);
    const script = this.#scripts.shift() ?? this.#scriptOf(recorded) ?? { kind: 'transcript' };
    if (isDone(script)) this.recordings.push(recording);
    if (script.kind !== 'transcript') return this.#follow(script, recording.fields, response);
    const { type, body } = await transcriptOf(script, recording);
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  }

  /** The author's own: of the servers that imitate it, none here has this route. */
  async #respond(recorded: Recorded, response: ServerResponse): Promise<void> {
    const terms = this.#terms.knowsDeveloper ? this.#termsAt('responses') : this.#terms;
    const refusal = refusalOfResponse(recorded, terms);
    if (refusal !== undefined) return this.#refuse(response, refusal);
    const script = this.#scripts.shift() ?? { kind: 'answer' };
    const body = objectIn(recorded.bytes) ?? {};
    if (script.kind !== 'answer') return this.#follow(script, body, response);
    await script.after;
    const speaker = { marker: this.#marker, quirks: this.#quirks, model: String(body.model) };
    if (body.stream !== true) return this.#sendDocument(response, 200, responseOf(script, speaker, body));
    return this.#sendFrames(response, eventsOf(script, speaker, body), 'close');
  }

  async #embed(recorded: Recorded, response: ServerResponse): Promise<void> {
    const read = readEmbedding(recorded, this.#termsAt('embeddings'), this.#embeds);
    if ('refusal' in read) return this.#refuse(response, read.refusal);
    const script = this.#scripts.shift() ?? { kind: 'vectors' };
    if (script.kind !== 'vectors') return this.#follow(script, read.fields, response);
    this.#sendDocument(response, 200, embeddingsOf(script, read.fields, this.#embeds, this.#marker));
  }

  #termsAt(route: string): Terms {
    return { ...this.#terms, path: this.#terms.path.replace('chat/completions', route) };
  }

  #headers(): Record<string, string> {
    return {
      'x-request-id': `req_${this.#marker}`,
      'openai-organization': `org-${this.#marker}`,
      'openai-processing-ms': '12',
      'openai-version': '2020-10-01',
      'x-ratelimit-limit-requests': '5000',
      'x-ratelimit-remaining-requests': '4999',
      'x-ratelimit-reset-requests': '12ms',
    };
  }

  async #follow(script: Script, body: Json, response: ServerResponse): Promise<void> {
    const speaker = { marker: this.#marker, quirks: this.#quirks, model: String(body.model) };
    switch (script.kind) {
      case 'answer':
        await script.after;
        if (body.stream !== true) return this.#sendDocument(response, 200, documentOf(script, speaker));
        return this.#sendFrames(response, framesOf(script, speaker, optionsOf(body)), 'done');
      case 'pictures':
      case 'sound':
      case 'transcript':
      case 'vectors':
        throw new Error(`this route makes no ${script.kind}`);
      case 'error':
        return this.#refuse(response, ERRORS[script.error], script.headers);
      case 'frames':
        return this.#sendFrames(response, script.frames, script.end ?? 'done');
      case 'raw':
        response.writeHead(script.status ?? 200, { 'content-type': script.contentType ?? 'application/json' });
        response.end(script.body);
        return;
      case 'fault':
        return this.#fail(script.fault, speaker, response);
    }
  }

  #refuse(response: ServerResponse, refusal: Refusal, headers: Readonly<Record<string, string>> = {}): void {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const status = this.#quirks.errorsAreSuccesses === true ? 200 : refusal.status;
    this.#sendDocument(response, status, errorBody(refusal, this.#quirks, this.#marker));
  }

  #sendDocument(response: ServerResponse, status: number, document: Json): void {
    response.writeHead(status, { 'content-type': 'application/json' });
    for (const _line of this.#quirks.comments ?? []) response.write('\n\n');
    response.end(JSON.stringify(document));
  }

  async #sendFrames(
    response: ServerResponse,
    frames: Iterable<Json | string> | AsyncIterable<Json | string>,
    end: 'done' | 'close' | 'reset' | 'silence',
  ): Promise<void> {
    const { lineEnd = '\n', comments = [], sendsNoEnd = false } = this.#quirks;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    for await (const frame of frames) {
      for (const line of comments) await written(response, line + lineEnd + lineEnd);
      await written(response, typeof frame === 'string' ? frame : `data: ${JSON.stringify(frame)}${lineEnd}${lineEnd}`);
    }
    if (end === 'reset') response.socket?.resetAndDestroy();
    if (end === 'done' && !sendsNoEnd) response.write(`data: [DONE]${lineEnd}${lineEnd}`);
    if (end === 'done' || end === 'close') response.end();
  }

  async #fail(fault: SocketFault, speaker: Speaker, response: ServerResponse): Promise<void> {
    const whole = JSON.stringify(documentOf({}, speaker));
    switch (fault) {
      case 'reset before the body':
      case 'reset':
      case 'reset when done':
        response.socket?.resetAndDestroy();
        return;
      case 'reset in the body':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
        await written(response, whole.slice(0, 20));
        response.socket?.resetAndDestroy();
        return;
      case 'silence':
        return;
      case 'garbage':
        response.socket?.end(`${this.#marker} is not HTTP\r\n\r\n`);
        return;
      case 'empty stream':
        return this.#sendFrames(response, [], 'close');
      case 'wrong content type':
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end(`<html>${this.#marker}</html>`);
    }
  }
}

function optionsOf({ stream_options: options }: Json): Json {
  return typeof options === 'object' && options !== null ? { ...options } : {};
}
