import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Answer,
  COMPATIBLE,
  documentOf,
  ERRORS,
  errorBody,
  framesOf,
  type Quirks,
  type Speaker,
} from './openai-answers.ts';
import { parsed, type Refusal, refusalOf, type Terms } from './openai-checks.ts';
import { Gallery, type Pictures } from './openai-images.ts';
import { readSubmission, type Submission } from './openai-images-checks.ts';

export { COMPATIBLE, ERRORS, type Quirks } from './openai-answers.ts';

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
  /** Overlooks fields that it does not know. */
  readonly isLenient?: boolean;
}

/** What the next request gets. A request that the vendor would refuse is refused whatever the script says. */
export type Script =
  | ({ readonly kind: 'answer' } & Answer)
  | ({ readonly kind: 'pictures' } & Pictures)
  | { readonly kind: 'error'; readonly error: keyof typeof ERRORS; readonly headers?: Readonly<Record<string, string>> }
  /** Each piece is sent when it is there: an object as a frame, a text as it is. */
  | {
      readonly kind: 'frames';
      readonly frames: Iterable<Json | string> | AsyncIterable<Json | string>;
      readonly end?: 'done' | 'close' | 'reset' | 'silence';
    }
  | { readonly kind: 'raw'; readonly status?: number; readonly contentType?: string; readonly body: string }
  | { readonly kind: 'fault'; readonly fault: SocketFault };

/** `reset before the body`: it has read nothing but the headers. `reset when done`: the work is done and will be billed. */
export type SocketFault =
  | 'reset before the body'
  | 'reset'
  | 'reset when done'
  | 'reset in the body'
  | 'silence'
  | 'garbage'
  | 'empty stream'
  | 'wrong content type';

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Resolves when the exchange is over: true if the client left before the answer was whole. */
  readonly isAbandoned: Promise<boolean>;
}

/** The chat and image routes of the format's author, as strict as it is, or with the ways of a server that imitates it. */
export class OpenAiEmulator {
  readonly requests: Recorded[] = [];
  /** The image requests whose work was done, whether or not anybody got the answer. */
  readonly submissions: Submission[] = [];
  readonly #gallery = new Gallery();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  readonly #scripts: Script[] = [];
  readonly #marker: string;
  readonly #quirks: Quirks;
  readonly #terms: Terms;

  constructor({ apiKey, models, marker = 'upstream-marker', speaks, quirks, isLenient }: OpenAiOptions = {}) {
    const server = speaks === undefined ? undefined : COMPATIBLE[speaks];
    this.#marker = marker;
    this.#quirks = { ...server?.quirks, ...quirks };
    this.#terms = {
      path: `${new URL(server?.address ?? 'https://api.openai.com/v1').pathname}/chat/completions`,
      apiKey,
      models,
      isLenient: isLenient ?? server !== undefined,
      forbids: server?.forbids ?? [],
      knowsDeveloper: server === undefined,
    };
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** With the version segment, as this vendor's addresses are. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  get origin(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** One for each request to come; when they are used up, the model greets. */
  script(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [next] = this.#scripts;
    if (next?.kind === 'fault' && next.fault === 'reset before the body') {
      this.#scripts.shift();
      this.#record(request, response, Buffer.alloc(0));
      request.socket.resetAndDestroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = this.#record(request, response, Buffer.concat(chunks));
    for (const [name, value] of Object.entries(this.#headers())) response.setHeader(name, value);
    if (/\/(images|generated)\//.test(asked.path)) return this.#serveImages(asked, response);
    const refusal = refusalOf(asked, this.#terms);
    if (refusal !== undefined) this.#refuse(response, refusal);
    else await this.#follow(this.#scripts.shift() ?? { kind: 'answer' }, parsed(asked.bytes) ?? {}, response);
  }

  async #serveImages(asked: Recorded, response: ServerResponse): Promise<void> {
    const picture = this.#gallery.at(asked.path);
    if (picture !== undefined) {
      response.writeHead(200, { 'content-type': picture.type });
      response.end(picture.bytes);
      return;
    }
    const route = asked.path.endsWith('/edits') ? 'edits' : 'generations';
    const path = this.#terms.path.replace('chat/completions', `images/${route}`);
    const read = await readSubmission(asked, route, { ...this.#terms, path });
    if ('refusal' in read) return this.#refuse(response, read.refusal);
    const script = this.#scripts.shift() ?? { kind: 'pictures' };
    const isDone = script.kind === 'pictures' || (script.kind === 'fault' && script.fault === 'reset when done');
    if (isDone) this.submissions.push(read);
    if (script.kind !== 'pictures') return this.#follow(script, read.fields, response);
    const document = await this.#gallery.documentOf(script, read, this.origin, this.#marker);
    this.#sendDocument(response, 200, document);
  }

  #record(request: IncomingMessage, response: ServerResponse, bytes: Buffer): Recorded {
    const isAbandoned = once(response, 'close').then(() => !response.writableFinished);
    const { method = '', url: path = '', headers } = request;
    const recorded = { method, path, headers, bytes, isAbandoned };
    this.requests.push(recorded);
    return recorded;
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
        if (body.stream !== true) return this.#sendDocument(response, 200, documentOf(script, speaker));
        return this.#sendFrames(response, framesOf(script, speaker, optionsOf(body)), 'done');
      case 'pictures':
        throw new Error('this route makes no pictures');
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

/** Resolves when the bytes are with the system, or nobody takes them any more. */
async function written(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(text, () => {
      response.off('close', resolve);
      resolve();
    });
  });
}
