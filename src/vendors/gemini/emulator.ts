import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Recorded, RecordingServer, written } from '../emulator/recording-server.ts';
import { type Answer, documentOf, ERRORS, errorBody, framesOf, type Refusal, stamp } from './emulator/answers.ts';
import { refusalOf, type Target, type Terms, targetOf } from './emulator/checks.ts';
import { batchOf, type Vectors } from './emulator/embeddings.ts';
import { type InteractionAnswer, Interactions, isInteractionPath } from './emulator/interactions.ts';
import { mediaParts, NO_SAMPLES, type Samples } from './emulator/media.ts';

export { ERRORS } from './emulator/answers.ts';

type Json = Record<string, unknown>;
type Frames = Iterable<Json | string> | AsyncIterable<Json | string>;
type FramesEnd = 'close' | 'reset' | 'silence';

export interface GeminiOptions {
  /** The key that it asks for; without one, any. */
  readonly apiKey?: string;
  /** The models that it has; without a list it has every one. */
  readonly models?: readonly string[];
  /** Stands in every header, document, error and frame, but not in what the model says. */
  readonly marker?: string;
  /** Between the frames; the vendor's own is CRLF. */
  readonly lineEnd?: string;
  /** A cloud's host of the same models, which takes a few fields more. */
  readonly isCloud?: boolean;
  /** What its models make. */
  readonly samples?: Partial<Samples>;
}

/** What the next request gets. A request that the vendor would refuse is refused whatever the script says. */
export type Script =
  | ({ readonly kind: 'answer' } & Answer)
  | ({ readonly kind: 'vectors' } & Vectors)
  | { readonly kind: 'error'; readonly error: keyof typeof ERRORS; readonly headers?: Readonly<Record<string, string>> }
  /** Each piece is sent when it is there: an object as a frame with the marker, a text as it is. */
  | { readonly kind: 'frames'; readonly frames: Frames; readonly end?: FramesEnd }
  | {
      readonly kind: 'raw';
      readonly status?: number;
      readonly contentType?: string;
      readonly body: string | Buffer;
    }
  /** Its rules are against what was asked for. */
  | { readonly kind: 'policy' }
  | { readonly kind: 'fault'; readonly fault: SocketFault };

export type SocketFault = 'reset' | 'reset in the body' | 'silence' | 'garbage' | 'empty stream' | 'wrong content type';

/** Of a request that names no model in its path. */
const NO_TARGET: Target = { model: '', action: '', query: new URLSearchParams() };

/** The vendor's actions on models, as strict as it is about what it is sent. */
export class GeminiEmulator extends RecordingServer {
  /** Whether the account can pay no more. */
  isBroke = false;
  readonly interactions: Interactions;
  readonly #scripts: Script[] = [];
  readonly #samples: Samples;
  readonly #marker: string;
  readonly #lineEnd: string;
  readonly #terms: Terms;

  constructor({ apiKey, models, marker = 'upstream-marker', lineEnd = '\r\n', isCloud, samples }: GeminiOptions = {}) {
    super();
    this.#samples = { ...NO_SAMPLES, ...samples };
    this.interactions = new Interactions(this.#samples);
    this.#marker = marker;
    this.#lineEnd = lineEnd;
    this.#terms = { apiKey, models, isCloud };
  }

  /** One for each request to come; when they are used up, the model greets. */
  script(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const recorded = this.record(request, response, Buffer.concat(chunks));
    response.setHeader('x-request-id', `request-${this.#marker}`);
    response.setHeader('server', `server-${this.#marker}`);
    if (isInteractionPath(recorded.path)) return this.#interact(recorded, response);
    if (recorded.method === 'GET' && /^\/v1beta\/models(\?|$)/.test(recorded.path))
      return this.#list(recorded, response);
    const refusal = refusalOf(recorded, this.#terms) ?? (this.isBroke ? ERRORS['no credit'] : undefined);
    const target = targetOf(recorded.path);
    if (refusal !== undefined || target === undefined) return this.#refuse(response, refusal ?? ERRORS['not found']);
    const usual = { kind: target.action === 'batchEmbedContents' ? 'vectors' : 'answer' } as const;
    await this.#follow(this.#scripts.shift() ?? usual, target, recorded.bytes, response);
  }

  /** Two to a page, so that short lists have several; the token of a page is where it begins. */
  async #list({ path, headers }: Recorded, response: ServerResponse): Promise<void> {
    const key = headers['x-goog-api-key'];
    if (key === undefined) return this.#refuse(response, ERRORS.forbidden);
    if (this.#terms.apiKey !== undefined && key !== this.#terms.apiKey)
      return this.#refuse(response, ERRORS['bad key']);
    const all = this.#terms.models ?? [];
    const first = Number(new URL(path, this.url).searchParams.get('pageToken') ?? 0);
    const models = all.slice(first, first + 2).map((name) => ({ name: `models/${name}`, displayName: name }));
    const more = first + 2 < all.length ? { nextPageToken: String(first + 2) } : {};
    this.#sendDocument(response, 200, { models, ...more });
  }

  /** Work is accepted before a script says what becomes of the answer. */
  async #interact({ method, path, headers, bytes }: Recorded, response: ServerResponse): Promise<void> {
    const key = headers['x-goog-api-key'];
    if (key === undefined) return this.#refuse(response, ERRORS.forbidden);
    if (this.#terms.apiKey !== undefined && key !== this.#terms.apiKey)
      return this.#refuse(response, ERRORS['bad key']);
    if (this.isBroke && method === 'POST') return this.#refuse(response, ERRORS['no credit']);
    const [next] = this.#scripts;
    if (next?.kind === 'policy') this.interactions.endings.push('policy');
    await this.answerTask(this.interactions.answer(method, path, bytes, this.url), bytes, response);
  }

  /** Gives an answer of a task, or what the next script says in its place. */
  protected async answerTask(answer: InteractionAnswer, bytes: Buffer, response: ServerResponse): Promise<void> {
    const script = answer.status < 300 ? this.#scripts.shift() : undefined;
    if (script === undefined || script.kind === 'answer' || script.kind === 'policy')
      return this.#give(answer, response);
    if (script.kind === 'vectors') throw new Error('a task has no vectors');
    await this.#follow(script, NO_TARGET, bytes, response);
  }

  #give(answer: InteractionAnswer, response: ServerResponse): void {
    if ('document' in answer) this.#sendDocument(response, answer.status, answer.document);
    else if ('location' in answer) response.writeHead(answer.status, { location: answer.location }).end();
    else response.writeHead(answer.status, { 'content-type': 'application/octet-stream' }).end(answer.bytes);
  }

  /** The requests of one method. */
  sent(method: string, path = /./): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  async #follow(script: Script, target: Target, bytes: Buffer, response: ServerResponse): Promise<void> {
    switch (script.kind) {
      case 'answer':
        return this.#answer({ ...this.#mediaFor(bytes, target), ...script }, target, response);
      case 'policy':
        return this.#answer({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, target, response);
      case 'vectors':
        return this.#sendDocument(response, 200, batchOf(script, JSON.parse(bytes.toString('utf8'))));
      case 'error':
        for (const [name, value] of Object.entries(script.headers ?? {})) response.setHeader(name, value);
        return this.#refuse(response, ERRORS[script.error]);
      case 'frames':
        return this.#sendFrames(response, script.frames, script.end ?? 'close');
      case 'raw':
        response.writeHead(script.status ?? 200, { 'content-type': script.contentType ?? 'application/json' });
        response.end(script.body);
        return;
      case 'fault':
        return this.#fail(script.fault, response);
    }
  }

  #mediaFor(bytes: Buffer, { model, action }: Target): Pick<Answer, 'parts'> {
    const parts =
      action === 'generateContent' ? mediaParts(JSON.parse(bytes.toString('utf8')), model, this.#samples) : undefined;
    return parts === undefined ? {} : { parts };
  }

  async #answer(answer: Answer, { action, query }: Target, response: ServerResponse): Promise<void> {
    if (action === 'countTokens') return this.#sendDocument(response, 200, { totalTokens: 7, ...stamp(this.#marker) });
    if (action === 'generateContent') return this.#sendDocument(response, 200, documentOf(answer, this.#marker));
    const frames = framesOf(answer, this.#marker);
    if (query.get('alt') === 'sse') return this.#sendFrames(response, frames, 'close');
    // Unless it is asked for events, the vendor streams one array.
    return this.#sendDocument(response, 200, frames);
  }

  #refuse(response: ServerResponse, refusal: Refusal): void {
    this.#sendDocument(response, refusal.status, errorBody(refusal, this.#marker));
  }

  #sendDocument(response: ServerResponse, status: number, document: Json | readonly Json[]): void {
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
    response.end(JSON.stringify(document, undefined, 2));
  }

  async #sendFrames(response: ServerResponse, frames: Frames, end: FramesEnd): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    for await (const frame of frames) await written(response, this.#frameText(frame));
    if (end === 'reset') response.socket?.resetAndDestroy();
    if (end === 'close') response.end();
  }

  #frameText(frame: Json | string): string {
    if (typeof frame === 'string') return frame;
    return `data: ${JSON.stringify({ ...frame, ...stamp(this.#marker) })}${this.#lineEnd}${this.#lineEnd}`;
  }

  async #fail(fault: SocketFault, response: ServerResponse): Promise<void> {
    const whole = JSON.stringify(documentOf({}, this.#marker));
    switch (fault) {
      case 'reset':
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
