import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  ContentBlock,
  Message,
  RawMessageStreamEvent,
  StopReason,
  Usage,
} from '@anthropic-ai/sdk/resources/messages';
import { LocalServer } from '../emulator/local-server.ts';
import { type ApiVersion, faultInBody, faultInCount } from './emulator/rules.ts';

/** What one request is answered with, provided that it keeps the vendor's rules. */
export type Scripted =
  /** As one document or as events, whichever was asked for. */
  | {
      readonly kind: 'message';
      readonly content?: readonly ContentBlock[];
      readonly stopReason?: StopReason;
      readonly usage?: Partial<Usage>;
    }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly type: string;
      readonly message?: string;
      readonly details?: object;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Objects become events, texts are written as they are, a promise is waited for. */
  | { readonly kind: 'frames'; readonly frames: readonly Frame[]; readonly end?: End }
  | { readonly kind: 'raw'; readonly contentType: string; readonly body: string; readonly end?: End }
  | { readonly kind: 'socket'; readonly fault: 'reset' | 'silence' };

export type Frame = { readonly type: string } | string | Promise<unknown>;
type End = 'close' | 'reset' | 'silence';

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** The caller's, which tells connections apart. */
  readonly port: number | undefined;
  /** Of the answer: whole, cut, or left by its reader. */
  readonly closed: Promise<void>;
}

const BODY_BYTES_MAX = 32 * 1024 * 1024;
const COUNT_PATH = '/v1/messages/count_tokens';
/** What it says of every prompt. */
export const COUNTED_TOKENS = 14;
/** So that short lists have several pages. */
const PAGE_MAX = 2;

interface AnthropicOptions {
  readonly marker?: string;
  readonly apiKey?: string;
  /** Those that it lists; it answers for every one. */
  readonly models?: readonly string[];
}

const VERSIONS: ReadonlySet<string> = new Set<ApiVersion>(['2023-06-01', '2026-10-21']);

/** The vendor's Messages API on a loopback port. `marker` stands in every answer, header, error and event. */
export class AnthropicEmulator extends LocalServer {
  readonly requests: Recorded[] = [];
  readonly apiKey: string;
  readonly marker: string;
  readonly #script: Scripted[] = [];
  readonly #models: readonly string[];

  constructor({ marker = 'mark', apiKey = 'sk-ant-emulated', models = [] }: AnthropicOptions = {}) {
    super();
    this.#models = models;
    this.marker = marker;
    this.apiKey = apiKey;
  }

  /** One for each request to come; when none is left, a short greeting. */
  script(...answers: readonly Scripted[]): void {
    this.#script.push(...answers);
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<void>((resolve) => response.on('close', resolve));
    const { method = '', url: path = '', headers } = request;
    const bytes = Buffer.concat((await Array.fromAsync(request).catch(() => [])) as Buffer[]);
    this.requests.push({ method, path, headers, bytes, port: request.socket.remotePort, closed });
    const isList = method === 'GET' && /^\/v1\/models(\?limit=\d+(&after_id=[^&]+)?)?$/.test(path);
    const fault = isList ? this.#faultInHeaders(request) : this.#faultOf(request, bytes);
    if (fault !== undefined) return this.#refuse(response, fault);
    if (isList) {
      response.writeHead(200, this.#headers('application/json'));
      response.end(JSON.stringify(this.#pageAt(path)));
      return;
    }
    const answer = this.#script.shift() ?? { kind: 'message' };
    if (path === COUNT_PATH && answer.kind === 'message') {
      response.writeHead(200, this.#headers('application/json'));
      response.end(JSON.stringify({ input_tokens: COUNTED_TOKENS, marker: this.marker }));
      return;
    }
    const body = JSON.parse(bytes.toString('utf8')) as { model: string; stream?: boolean };
    await this.#play(response, answer, body);
  }

  /** As long as asked for, but never longer than two. */
  #pageAt(path: string): object {
    const query = new URL(path, this.origin).searchParams;
    const first = this.#models.indexOf(query.get('after_id') ?? '') + 1;
    const page = this.#models.slice(first, first + Math.min(Number(query.get('limit') ?? PAGE_MAX), PAGE_MAX));
    const data = page.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-09-29T00:00:00Z' }));
    const has_more = first + page.length < this.#models.length;
    return { data, has_more, first_id: page[0] ?? null, last_id: page.at(-1) ?? null };
  }

  /** In the order in which the vendor looks. */
  #faultOf(request: IncomingMessage, bytes: Buffer): Refusal | undefined {
    const { method, url, headers } = request;
    if (url !== '/v1/messages' && url !== COUNT_PATH)
      return { status: 404, type: 'not_found_error', message: 'Not found' };
    if (method !== 'POST') return invalid('Method Not Allowed', 405);
    const fault = this.#faultInHeaders(request);
    if (fault !== undefined) return fault;
    const version = headers['anthropic-version'];
    if (typeof version !== 'string' || !isVersion(version)) return invalid('anthropic-version: header is required');
    if (bytes.length > BODY_BYTES_MAX) {
      return { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' };
    }
    if (!headers['content-type']?.startsWith('application/json'))
      return invalid('content-type: must be application/json');
    const body = parsed(bytes);
    if (body === undefined) return invalid('The request body is not valid JSON');
    const betas = String(headers['anthropic-beta'] ?? '').split(',');
    const message = url === COUNT_PATH ? faultInCount(body) : faultInBody(body, version, betas);
    return message === undefined ? undefined : invalid(message);
  }

  #faultInHeaders({ headers }: IncomingMessage): Refusal | undefined {
    const version = headers['anthropic-version'];
    const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
    if (given !== this.apiKey) return { status: 401, type: 'authentication_error', message: 'invalid x-api-key' };
    if (typeof version !== 'string') return invalid('anthropic-version: header is required');
    return isVersion(version) ? undefined : invalid(`anthropic-version: "${version}" is not a valid version`);
  }

  #refuse(response: ServerResponse, { status, type, message = type, details, headers }: Refusal): void {
    const error = details === undefined ? {} : { details };
    const request_id = `req_${this.marker}`;
    response.writeHead(status, { ...this.#headers('application/json'), ...headers });
    response.end(
      JSON.stringify({ type: 'error', error: { type, message: `${message} ${this.marker}`, ...error }, request_id }),
    );
  }

  async #play(response: ServerResponse, answer: Scripted, asked: { model: string; stream?: boolean }): Promise<void> {
    switch (answer.kind) {
      case 'error':
        return this.#refuse(response, answer);
      case 'socket':
        if (answer.fault === 'reset') response.socket?.resetAndDestroy();
        return;
      case 'raw':
        response.writeHead(200, this.#headers(answer.contentType));
        return this.#write(response, [answer.body], answer.end);
      case 'frames':
        response.writeHead(200, this.#headers('text/event-stream; charset=utf-8'));
        return this.#write(response, answer.frames, answer.end);
      case 'message': {
        const message = this.#message(answer, asked.model);
        if (asked.stream === true) return this.#play(response, { kind: 'frames', frames: framesOf(message) }, asked);
        response.writeHead(200, this.#headers('application/json'));
        response.end(JSON.stringify({ ...message, marker: this.marker }));
      }
    }
  }

  async #write(response: ServerResponse, frames: readonly Frame[], end: End = 'close'): Promise<void> {
    response.flushHeaders();
    for (const frame of frames) {
      if (frame instanceof Promise) await frame;
      else await written(response, typeof frame === 'string' ? frame : this.#event(frame));
    }
    if (end === 'close') response.end();
    if (end === 'reset') response.socket?.resetAndDestroy();
  }

  #event(frame: { readonly type: string }): string {
    return `event: ${frame.type}\ndata: ${JSON.stringify({ ...frame, marker: this.marker })}\n\n`;
  }

  #headers(contentType: string): Record<string, string> {
    return {
      'content-type': contentType,
      'request-id': `req_${this.marker}`,
      'anthropic-organization-id': this.marker,
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-11-15T00:00:00Z',
    };
  }

  #message({ content = [textBlock('Hello.')], stopReason = 'end_turn', usage }: MessageScript, model: string): Message {
    return {
      id: `msg_${this.marker}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [...content],
      stop_reason: stopReason,
      stop_sequence: null,
      stop_details: stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: this.marker } : null,
      usage: { ...USAGE, ...usage },
      container: null,
      diagnostics: null,
    };
  }
}

type MessageScript = Extract<Scripted, { kind: 'message' }>;
type Refusal = Omit<Extract<Scripted, { kind: 'error' }>, 'kind'>;

const USAGE: Usage = {
  input_tokens: 12,
  output_tokens: 5,
  cache_creation: null,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: null,
};

export function textBlock(text: string): ContentBlock {
  return { type: 'text', text, citations: null };
}

export function toolBlock(id: string, name: string, input: object): ContentBlock {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } };
}

/** A whole message as the vendor streams it: nothing but the input is counted at first, and nothing of it at last. */
function framesOf(message: Message): (RawMessageStreamEvent | { readonly type: 'ping' })[] {
  const { stop_reason, stop_sequence, stop_details, container, usage } = message;
  const start = { ...usage, output_tokens: 1, output_tokens_details: null };
  return [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, stop_details: null, usage: start },
    },
    { type: 'ping' },
    ...message.content.flatMap(blockFrames),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details, container },
      usage: {
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: usage.output_tokens,
        output_tokens_details: usage.output_tokens_details,
        server_tool_use: null,
      },
    },
    { type: 'message_stop' },
  ];
}

function blockFrames(block: ContentBlock, index: number): RawMessageStreamEvent[] {
  const deltas = deltasOf(block).map((delta) => ({ type: 'content_block_delta' as const, index, delta }));
  return [
    { type: 'content_block_start', index, content_block: opening(block) },
    ...deltas,
    { type: 'content_block_stop', index },
  ];
}

function opening(block: ContentBlock): ContentBlock {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block.type === 'tool_use' ? { ...block, input: {} } : block;
}

type Delta = Extract<RawMessageStreamEvent, { type: 'content_block_delta' }>['delta'];

function deltasOf(block: ContentBlock): Delta[] {
  if (block.type === 'text') return halves(block.text).map((text) => ({ type: 'text_delta', text }));
  if (block.type === 'thinking') {
    const { signature } = block;
    return [
      ...halves(block.thinking).map((thinking): Delta => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature },
    ];
  }
  if (block.type !== 'tool_use') return [];
  const json = JSON.stringify(block.input);
  return ['', ...(json === '{}' ? [] : halves(json))].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }));
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function invalid(message: string, status = 400): Refusal {
  return { status, type: 'invalid_request_error', message };
}

function isVersion(version: string): version is ApiVersion {
  return VERSIONS.has(version);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function written(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => response.write(text, () => resolve()));
}
