import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { numbersOf } from '../emulator/vectors.ts';
import { GeminiEmulator, type GeminiOptions } from '../gemini/emulator.ts';
import { Operations } from './emulator/operations.ts';

export interface VertexOptions {
  /** Of express mode. */
  readonly apiKey?: string;
  /** The tokens that it takes. */
  readonly tokens?: ReadonlySet<string>;
  readonly marker?: string;
  /** What its models make. */
  readonly samples?: GeminiOptions['samples'];
}

interface CloudCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Json = any;

const PLACE = 'projects/project-1/locations/us-central1';
const PROJECT = `/v1/${PLACE}`;
const ACTION = /^\/publishers\/(google|anthropic)\/models\/([^/:]+):(\w+)(\?.*)?$/;
/** Those that the Developer API does not have. */
const OWN_ACTIONS = ['predict', 'embedContent', 'predictLongRunning', 'fetchPredictOperation'];
const PREDICT_FIELDS = ['content', 'task_type', 'title'];
const MESSAGE_FIELDS = [
  ...['anthropic_version', 'max_tokens', 'messages', 'system', 'stream', 'tools', 'tool_choice', 'stop_sequences'],
  ...['thinking', 'output_config', 'metadata'],
];

/** One project in one location: Gemini's actions under the project's path, vectors, clips, and Claude's messages. */
export class VertexEmulator extends GeminiEmulator {
  /** Every request as it came, in Google Cloud's own terms. */
  readonly calls: CloudCall[] = [];
  readonly operations: Operations;
  readonly #options: VertexOptions;

  constructor(options: VertexOptions) {
    const { marker, samples } = options;
    const made = { isCloud: true, ...(samples !== undefined && { samples }) };
    super({ apiKey: 'inner', ...made, ...(marker !== undefined && { marker }) });
    this.operations = new Operations(samples?.clip ?? Buffer.from('clip'), PLACE);
    this.#options = options;
  }

  /** Express mode, which has a key and no tokens, names no project. */
  override get url(): string {
    return `${this.origin}${this.#options.tokens === undefined ? '/v1' : PROJECT}`;
  }

  protected override async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', headers } = request;
    const isExpress = headers['x-goog-api-key'] !== undefined;
    const [, bearer = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    const isKnown = isExpress
      ? bearer === '' && headers['x-goog-api-key'] === this.#options.apiKey
      : this.#options.tokens?.has(bearer) === true;
    // The names of operations have the project in them, also in express mode.
    const prefix = isExpress && !path.endsWith(':fetchPredictOperation') ? '/v1' : PROJECT;
    const [, publisher, model = '', action = '', query = ''] =
      ACTION.exec(path.startsWith(prefix) ? path.slice(prefix.length) : '') ?? [];
    if (!isKnown) return this.#refuse(request, response, 401, 'UNAUTHENTICATED');
    if (publisher === undefined) return this.#refuse(request, response, 404, 'NOT_FOUND');
    if (this.isBroke) return this.#refuse(request, response, 403, 'PERMISSION_DENIED', 'BILLING_DISABLED');
    if (publisher === 'google' && !OWN_ACTIONS.includes(action)) {
      this.calls.push({ path, headers: { ...headers }, body: undefined });
      headers['x-goog-api-key'] = 'inner';
      request.url = `/v1beta/models/${model}:${action}${query}`;
      return super.serve(request, response);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const body: Json = JSON.parse(bytes.toString());
    this.record(request, response, bytes);
    this.calls.push({ path, headers: { ...headers }, body });
    if (action === 'predictLongRunning') return this.answerTask(this.operations.begin(model, body), bytes, response);
    if (action === 'fetchPredictOperation') return this.answerTask(this.operations.read(model, body), bytes, response);
    if (action === 'predict') this.#predict(model, body, response);
    else if (action === 'embedContent') this.#embed(body, response);
    else this.#message(action, body, response);
  }

  async #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    code: number,
    status: string,
    reason = status,
  ): Promise<void> {
    request.resume();
    this.record(request, response, Buffer.alloc(0));
    this.calls.push({ path: request.url ?? '', headers: { ...request.headers }, body: undefined });
    const details = [{ reason }];
    send(response, code, { error: { code, message: `refused by ${this.#options.marker}`, status, details } });
  }

  #predict(model: string, { instances = [], parameters = {} }: Json, response: ServerResponse): unknown {
    const most = model === 'gemini-embedding-001' ? 1 : 250;
    const isKnown = instances.every((one: object) => Object.keys(one).every((name) => PREDICT_FIELDS.includes(name)));
    if (instances.length === 0 || instances.length > most || !isKnown) return invalid(response);
    const predictions = instances.map(({ content }: Json) => ({
      embeddings: {
        values: numbersOf(content, parameters.outputDimensionality ?? 8),
        statistics: { truncated: false, token_count: 3 },
      },
    }));
    return send(response, 200, { predictions });
  }

  #embed({ content, embedContentConfig: config = {} }: Json, response: ServerResponse): unknown {
    if (content?.parts?.length !== 1) return invalid(response);
    const values = numbersOf(content.parts[0].text, config.outputDimensionality ?? 8);
    return send(response, 200, { embedding: { values }, usageMetadata: { promptTokenCount: 3 } });
  }

  #message(action: string, body: Json, response: ServerResponse): unknown {
    const isStream = action === 'streamRawPredict';
    const isKnown = Object.keys(body).every((name) => MESSAGE_FIELDS.includes(name));
    const isWhole = body.anthropic_version === 'vertex-2023-10-16' && Number.isInteger(body.max_tokens);
    if (!isKnown || !isWhole || (body.stream === true) !== isStream) {
      const error = { type: 'invalid_request_error', message: 'the message is not as it should be' };
      return send(response, 400, { type: 'error', error });
    }
    const usage = { input_tokens: 5, output_tokens: 2 };
    const message = { id: 'msg_vrtx_1', type: 'message', role: 'assistant', content: [], usage, stop_reason: null };
    const text = 'Good day.';
    if (!isStream) {
      return send(response, 200, { ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' });
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    return response.end();
  }
}

function invalid(response: ServerResponse): unknown {
  return send(response, 400, { error: { code: 400, message: 'Invalid argument.', status: 'INVALID_ARGUMENT' } });
}

function send(response: ServerResponse, status: number, body: object): unknown {
  response.writeHead(status, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(body));
}
