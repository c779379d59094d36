import { Sha256 } from '@smithy/core/checksum';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { SignatureV4 } from '@smithy/signature-v4';
import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
import { numbersOf } from '../emulator/vectors.ts';

export interface BedrockOptions {
  /** Of a bearer. */
  readonly apiKey?: string;
  /** A user's key, whose signatures are checked by AWS's own signer. */
  readonly accessKey?: { readonly id: string; readonly secret: string };
  /** What its models draw. */
  readonly picture?: Buffer;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Json = any;

const REGION = 'us-east-1';
const CONVERSE_FIELDS = [
  ...['messages', 'system', 'inferenceConfig', 'toolConfig', 'outputConfig', 'guardrailConfig', 'promptVariables'],
  ...['additionalModelRequestFields', 'additionalModelResponseFieldPaths', 'requestMetadata', 'performanceConfig'],
  'serviceTier',
];
const CONFIG_FIELDS = ['maxTokens', 'temperature', 'topP', 'stopSequences'];
const PICTURE_FIELDS: Readonly<Record<string, (value: Json) => boolean>> = {
  prompt: (text) => typeof text === 'string' && text.length >= 1 && text.length <= 10_000,
  negative_prompt: (text) => typeof text === 'string' && text.length <= 10_000,
  aspect_ratio: (shape) => '21:9 16:9 3:2 5:4 1:1 4:5 2:3 9:16 9:21'.split(' ').includes(shape),
  seed: (seed) => Number.isInteger(seed) && seed >= 0 && seed <= 4_294_967_294,
  output_format: (format) => ['png', 'jpeg', 'webp'].includes(format),
  mode: (mode) => ['text-to-image', 'image-to-image'].includes(mode),
  image: (base64) => /^[\w+/]+={0,2}$/.test(base64),
  strength: (share) => share >= 0 && share <= 1,
  style_preset: (style) => typeof style === 'string',
};
const COHERE_FIELDS = ['texts', 'input_type', 'truncate', 'output_dimension'];
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** One region of one account: Converse, the bodies of Titan's and Cohere's embedding models, and of Stability's pictures. */
export class BedrockEmulator extends ScriptedServer {
  /** A prompt that is filtered. */
  readonly forbidden = 'a forbidden gate';
  readonly #options: BedrockOptions;

  constructor(options: BedrockOptions) {
    super((asked) => this.#answer(asked));
    this.#options = options;
  }

  /** The requests of one kind. */
  sent(method: string, path = /./): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  async #answer(asked: Recorded): Promise<Answer> {
    if (!(await this.#isKnown(asked))) return refusal(403, 'AccessDeniedException', 'not authorized');
    const [, model = '', action = ''] = /^\/model\/([^/]+)\/(converse|converse-stream|invoke)$/.exec(asked.path) ?? [];
    if (asked.method !== 'POST' || action === '') return refusal(404, 'UnknownOperationException', 'no such path');
    const body: Json = JSON.parse(asked.bytes.toString());
    if (action === 'invoke' && model.includes('stability.')) return this.#draw(body);
    if (action === 'invoke') return invoked(decodeURIComponent(model), body);
    const fault = converseFault(body);
    if (fault !== undefined) return refusal(400, 'ValidationException', fault);
    return action === 'converse' ? json(200, MESSAGE) : streamOf(EVENTS);
  }

  #draw(body: Json): Answer {
    const odd = Object.keys(body).find((name) => PICTURE_FIELDS[name]?.(body[name]) !== true);
    if (odd !== undefined || body.prompt === undefined) {
      return refusal(400, 'ValidationException', `Malformed input request: ${odd ?? 'prompt'}`);
    }
    if (body.prompt === this.forbidden)
      return json(200, { images: [], seeds: [], finish_reasons: ['Filter reason: prompt'] });
    const images = [(this.#options.picture ?? Buffer.from('picture')).toString('base64')];
    return json(200, { images, seeds: [body.seed ?? 7], finish_reasons: [null] });
  }

  /** Signs what came with the same key and compares. */
  async #isKnown({ method, path, headers, bytes }: Recorded): Promise<boolean> {
    const authorization = headers.authorization ?? '';
    const { apiKey, accessKey } = this.#options;
    if (authorization.startsWith('Bearer ')) return authorization === `Bearer ${apiKey}`;
    const [, names = ''] = /SignedHeaders=([^,]+)/.exec(authorization) ?? [];
    const date = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
    if (accessKey === undefined || !names.split(';').includes('host') || Number.isNaN(Date.parse(date))) return false;
    const credentials = { accessKeyId: accessKey.id, secretAccessKey: accessKey.secret };
    const signer = new SignatureV4({ credentials, region: REGION, service: 'bedrock', sha256: Sha256 });
    const signed = await signer.sign(
      {
        method,
        protocol: 'http:',
        hostname: '127.0.0.1',
        path,
        headers: Object.fromEntries(names.split(';').map((name) => [name, String(headers[name] ?? '')])),
        body: bytes,
      },
      { signingDate: new Date(date) },
    );
    return signed.headers.authorization === authorization;
  }
}

const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 10, cacheReadInputTokens: 2, cacheWriteInputTokens: 1 };
const MESSAGE = {
  output: { message: { role: 'assistant', content: [{ text: 'Good day.' }] } },
  stopReason: 'end_turn',
  usage,
  metrics: { latencyMs: 5 },
};
const EVENTS = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Good ' }, p: 'abc' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'day.' } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'end_turn' }],
  ['metadata', { usage, metrics: { latencyMs: 5 } }],
] as const;

/** One message of the binary stream. */
export function messageOf(kind: 'event' | 'exception', type: string, body: object): Buffer {
  const text = (value: string) => ({ type: 'string', value }) as const;
  const headers = {
    ':message-type': text(kind),
    [`:${kind}-type`]: text(type),
    ':content-type': text('application/json'),
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) }));
}

function streamOf(events: readonly (readonly [string, object])[]): Answer {
  return streamAnswer(events.map(([type, body]) => messageOf('event', type, body)));
}

export function streamAnswer(messages: readonly Buffer[]): Answer {
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' };
  return { status: 200, headers, body: Buffer.concat(messages) };
}

function converseFault(body: Json): string | undefined {
  const unknown = Object.keys(body).find((name) => !CONVERSE_FIELDS.includes(name));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  const option = Object.keys(body.inferenceConfig ?? {}).find((name) => !CONFIG_FIELDS.includes(name));
  if (option !== undefined) return `unknown field ${option}`;
  const text = JSON.stringify(body.messages);
  if (/"tool(Use|Result)":/.test(text) && body.toolConfig === undefined) return 'toolConfig is missing';
  return Array.isArray(body.messages) && body.messages[0]?.role === 'user'
    ? undefined
    : 'must start with a user message';
}

function invoked(model: string, body: Json): Answer {
  if (model.includes('titan-embed')) {
    if (Object.keys(body).some((name) => !['inputText', 'dimensions'].includes(name))) {
      return refusal(400, 'ValidationException', 'extraneous key');
    }
    return json(200, { embedding: numbersOf(body.inputText, body.dimensions ?? 8), inputTextTokenCount: 3 });
  }
  const isKnown = Object.keys(body).every((name) => COHERE_FIELDS.includes(name)) && body.input_type !== undefined;
  if (!isKnown || body.texts.length > 96) return refusal(400, 'ValidationException', 'Malformed input request');
  const embeddings = body.texts.map((one: string) => numbersOf(one, body.output_dimension ?? 8));
  const answer = json(200, { embeddings, id: 'x', texts: body.texts });
  return {
    ...answer,
    headers: { ...answer.headers, 'x-amzn-bedrock-input-token-count': String(3 * body.texts.length) },
  };
}

export function refusal(status: number, name: string, message: string): Answer {
  const answer = json(status, { message });
  return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': `${name}:http://internal.amazon.com/` } };
}
