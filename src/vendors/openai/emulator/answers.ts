import type { Refusal } from './checks.ts';

type Json = Record<string, unknown>;

/** What the model says. */
export interface Answer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason?: string;
  /** In the vendor's shape. Undefined: 9 prompt and 3 completion tokens. Null: none. */
  readonly usage?: Json | null;
}

/** How a server that only speaks the format differs from its author. */
export interface Quirks {
  /** Lines that keep the connection alive, before and between frames and as blank lines before a document. */
  readonly comments?: readonly string[];
  readonly lineEnd?: '\n' | '\r\n';
  /** No `data: [DONE]`. */
  readonly sendsNoEnd?: boolean;
  /** Where a stream tells its usage. Its own frame, if asked for, is what the author does. */
  readonly usagePlace?: 'own frame' | 'last frame' | 'every frame' | 'x_groq';
  /** `parts`: content is a list, and thinking a part of it. */
  readonly reasoningPlace?: 'reasoning_content' | 'reasoning' | 'parts';
  /** Tool calls come whole and without `index`. */
  readonly toolCallsAreWhole?: boolean;
  /** Words for reasons of ending, by the author's. */
  readonly finishReasons?: Readonly<Record<string, string>>;
  /** `bare`: without a wrapper. */
  readonly errorShape?: 'object' | 'numeric code' | 'text' | 'flat' | 'detail' | 'bare';
  /** Answers errors with status 200. */
  readonly errorsAreSuccesses?: boolean;
  /** Fields of its own in every answer and frame. */
  readonly extras?: Json;
}

const USAGE: Json = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const CREATED = 1_763_000_000;

export interface Speaker {
  readonly marker: string;
  readonly quirks: Quirks;
  /** As the request named it. */
  readonly model: string;
}

/** A whole `chat.completion`. */
export function documentOf(answer: Answer, speaker: Speaker): Json {
  const { text = 'Hello there.', toolCalls, reasoning, usage = USAGE } = answer;
  const message = {
    role: 'assistant',
    ...spoken(toolCalls === undefined ? text : null, reasoning, speaker),
    refusal: null,
    annotations: [],
    ...(toolCalls !== undefined && {
      tool_calls: toolCalls.map(({ id, ...call }) => ({ id, type: 'function', function: call })),
    }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: reasonOf(answer, speaker) };
  return {
    ...head('chat.completion', speaker),
    choices: [choice],
    ...(usage !== null && { usage: { ...usage, marker: speaker.marker } }),
  };
}

/** The frames of the same answer, without the end marker. */
export function framesOf(answer: Answer, speaker: Speaker, options: Json): Json[] {
  const place = speaker.quirks.usagePlace ?? 'own frame';
  const usage = answer.usage === undefined ? USAGE : answer.usage;
  const deltas = deltasOf(answer, speaker);
  const frames = deltas.map((delta) => frame([{ index: 0, delta, logprobs: null, finish_reason: null }], speaker));
  const last = frame([{ index: 0, delta: {}, logprobs: null, finish_reason: reasonOf(answer, speaker) }], speaker);
  frames.push(last);
  const padded = frames.map((each) => ({ ...each, ...(options.include_obfuscation !== false && PADDING) }));
  if (usage === null) return padded;
  if (place === 'own frame') {
    if (options.include_usage !== true) return padded;
    return [...padded.map((each) => ({ ...each, usage: null })), { ...frame([], speaker), usage }];
  }
  const told = place === 'x_groq' ? { x_groq: { id: `req_${speaker.marker}`, usage } } : { usage };
  return padded.map((each, at) => (place === 'every frame' || at === padded.length - 1 ? { ...each, ...told } : each));
}

const PADDING = { obfuscation: 'aBcD3f' };

/** A frame with what stands on every frame. */
function frame(choices: readonly Json[], speaker: Speaker): Json {
  return { ...head('chat.completion.chunk', speaker), choices };
}

function head(object: string, { marker, quirks, model }: Speaker): Json {
  return {
    id: `chatcmpl-${marker}`,
    object,
    created: CREATED,
    model: `${model}-${marker}`,
    service_tier: 'default',
    system_fingerprint: `fp_${marker}`,
    ...quirks.extras,
  };
}

function deltasOf({ text, reasoning, toolCalls }: Answer, speaker: Speaker): Json[] {
  const said = text ?? (toolCalls === undefined ? 'Hello there.' : '');
  return [
    { role: 'assistant', content: '', refusal: null },
    ...piecesOf(reasoning ?? '').map((piece) => spoken(undefined, piece, speaker)),
    ...piecesOf(said).map((piece) => spoken(piece, undefined, speaker)),
    ...(toolCalls ?? []).flatMap((call, index) => toolDeltas(call, index, speaker)),
  ];
}

function toolDeltas(call: { id: string; name: string; arguments: string }, index: number, speaker: Speaker): Json[] {
  const { id, name } = call;
  if (speaker.quirks.toolCallsAreWhole === true) {
    return [{ tool_calls: [{ id, function: { name, arguments: call.arguments } }] }];
  }
  const first = { index, id, type: 'function', function: { name, arguments: '' } };
  const rest = piecesOf(call.arguments).map((piece) => ({ index, function: { arguments: piece } }));
  return [first, ...rest].map((each) => ({ tool_calls: [each] }));
}

function spoken(text: string | null | undefined, reasoning: string | undefined, { quirks }: Speaker): Json {
  if (quirks.reasoningPlace === 'parts' && reasoning !== undefined) {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: reasoning }] };
    return { content: typeof text === 'string' ? [thinking, { type: 'text', text }] : [thinking] };
  }
  return {
    ...(text !== undefined && { content: text }),
    ...(reasoning !== undefined && { [quirks.reasoningPlace ?? 'reasoning_content']: reasoning }),
  };
}

function piecesOf(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
}

function reasonOf({ finishReason, toolCalls }: Answer, { quirks }: Speaker): string {
  const reason = finishReason ?? (toolCalls === undefined ? 'stop' : 'tool_calls');
  return quirks.finishReasons?.[reason] ?? reason;
}

/** The body of a refusal in the server's shape. */
export function errorBody(refusal: Refusal, { errorShape = 'object' }: Quirks, marker: string): Json {
  const { status, type, param, code } = refusal;
  const message = `${refusal.message} (${marker})`;
  switch (errorShape) {
    case 'object':
      return { error: { message, type, param, code } };
    case 'numeric code':
      return { error: { message, type, param, code: status } };
    case 'text':
      return { error: message };
    case 'flat':
      return { code: code ?? type, error: message };
    case 'bare':
      return { message, type, code: status };
    case 'detail':
      return { detail: [{ loc: ['body', param], msg: message, type }] };
  }
}

const refused = (status: number, type: string, code: string | null, message: string): Refusal => ({
  status,
  message,
  type,
  param: null,
  code,
});

/** Every error of the vendor's table. */
export const ERRORS = {
  invalid: refused(400, 'invalid_request_error', 'invalid_value', 'Invalid value.'),
  tooLong: refused(400, 'invalid_request_error', 'context_length_exceeded', 'Too many tokens.'),
  policy: refused(400, 'invalid_request_error', 'content_policy_violation', 'Rejected by our safety system.'),
  moderated: refused(400, 'invalid_request_error', 'moderation_blocked', 'Rejected by our safety system.'),
  pictureModerated: refused(400, 'image_generation_user_error', 'moderation_blocked', 'Rejected by our safety system.'),
  hardLimit: refused(
    400,
    'invalid_request_error',
    'billing_hard_limit_reached',
    'Billing hard limit has been reached.',
  ),
  badKey: refused(401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'),
  unpaid: refused(402, 'invalid_request_error', null, 'Insufficient balance.'),
  forbidden: refused(403, 'permission_error', 'unsupported_country_region_territory', 'Country not supported.'),
  noModel: refused(404, 'invalid_request_error', 'model_not_found', 'The model does not exist.'),
  tooSlow: refused(408, 'invalid_request_error', null, 'Timed out.'),
  conflict: refused(409, 'invalid_request_error', null, 'Conflict.'),
  tooLarge: refused(413, 'invalid_request_error', null, 'Too large.'),
  unprocessable: refused(422, 'invalid_request_error', null, 'Unprocessable.'),
  throttled: refused(429, 'requests', 'rate_limit_exceeded', 'Rate limit reached.'),
  slowDown: refused(429, 'insufficient_quota', 'slow_down', 'Slow down.'),
  noCredit: refused(429, 'insufficient_quota', 'credit_balance_exhausted', 'You have no credits left.'),
  noQuota: refused(429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.'),
  broken: refused(500, 'server_error', null, 'The server had an error.'),
  overloaded: refused(503, 'service_unavailable_error', 'server_is_overloaded', 'Overloaded.'),
} as const satisfies Record<string, Refusal>;
