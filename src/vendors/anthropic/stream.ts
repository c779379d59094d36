import { UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { parseObject } from '../kit/http.ts';
import { isObject } from '../kit/json.ts';
import { readEvents, type SseEvent } from '../kit/sse.ts';
import type { ChatAnswer, ChatChunk, TokenUsage } from '../vendor.ts';
import {
  completionId,
  countTokens,
  finishReason,
  NO_TOKENS,
  readCall,
  type Said,
  type Tokens,
  toCompletion,
  toUsage,
} from './answer.ts';
import { faultOf } from './faults.ts';
import { textOf } from './fields.ts';

const LF = 0x0a;

/** What one event adds to the answer. */
export interface Piece {
  readonly delta: Delta | undefined;
  readonly finish: string | null;
  readonly usage: TokenUsage | undefined;
}

type Delta = {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly [CallDelta];
};

type CallDelta = {
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function';
  readonly function: { readonly name?: string; readonly arguments: string };
};

/** Throws UpstreamError if the stream tells an error, or begins and does not come to its end. */
export async function* readPieces(body: AsyncIterable<Buffer>): AsyncIterable<Piece> {
  const reader = new EventReader();
  let isStarted = false;
  let isEnded = false;
  try {
    // Read on behind the last event: a body that is read to its end leaves its connection to the next call.
    for await (const event of readEvents(body)) {
      if (isEnded || event.data === '' || event.event === 'ping') continue;
      const frame = parseObject(event.data);
      if (frame === undefined) throw notAFrame(event);
      isEnded = frame.type === 'message_stop';
      const piece = reader.read(frame);
      if (piece === undefined) continue;
      isStarted = true;
      yield piece;
    }
  } catch (error) {
    if (!isEnded) throw error;
  }
  if (isStarted && !(isEnded && reader.isFinished)) {
    throw new UpstreamError('server', 'the stream ended in the middle of its message');
  }
}

/** A body that ends inside an event was cut; its sender did not write nonsense. */
function notAFrame({ bytes, event }: SseEvent): UpstreamError {
  if (event === 'error') return new UpstreamError('server', 'an error event that is not a JSON object');
  const isCut = bytes.at(-1) !== LF;
  return new UpstreamError(
    isCut ? 'server' : 'garbled',
    isCut ? 'the stream was cut' : 'an event is not a JSON object',
  );
}

export async function* toChunks(pieces: AsyncIterable<Piece>, model: string): AsyncIterable<ChatChunk> {
  const id = completionId();
  for await (const { delta, finish, usage } of pieces) {
    yield { body: delta === undefined ? undefined : toChunk(id, model, delta, finish), usage };
  }
}

function toChunk(id: string, model: string, delta: Delta, finish: string | null): JsonObject {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 0,
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  };
}

/** The whole answer of a stream, for a caller who does not take it piece by piece. */
export async function gather(pieces: AsyncIterable<Piece>, model: string): Promise<ChatAnswer> {
  const said: Said = { text: '', reasoning: '', calls: [], finish: '' };
  let usage: TokenUsage | undefined;
  for await (const piece of pieces) {
    usage = piece.usage ?? usage;
    said.text += piece.delta?.content ?? '';
    said.reasoning += piece.delta?.reasoning_content ?? '';
    said.finish = piece.finish ?? said.finish;
    for (const call of piece.delta?.tool_calls ?? []) addCall(said, call);
  }
  if (said.finish === '') throw new UpstreamError('server', 'the stream held no message');
  return { body: toCompletion(said, model), usage };
}

function addCall({ calls }: Said, { index, id, function: made }: CallDelta): void {
  const call = calls[index];
  if (call !== undefined) call.arguments += made.arguments;
  else calls.push({ id: id ?? '', name: made.name ?? '', arguments: made.arguments });
}

interface OpenCall {
  readonly index: number;
  readonly input: JsonValue | undefined;
  isTold: boolean;
}

/** Events of one stream, in order, to pieces. */
class EventReader {
  isFinished = false;
  #tokens: Tokens = NO_TOKENS;
  #calls = 0;
  /** By the index of its block, which counts blocks of every type. */
  readonly #open = new Map<JsonValue | undefined, OpenCall>();

  /** Undefined for an event that adds nothing, or that this version does not know. */
  read(frame: JsonObject): Piece | undefined {
    switch (textOf(frame.type) ?? '') {
      case 'content_block_delta':
        return this.#blockDelta(frame);
      case 'content_block_start':
        return this.#blockStart(frame);
      case 'content_block_stop':
        return this.#blockStop(frame);
      case 'message_start':
        return this.#messageStart(frame);
      case 'message_delta':
        return this.#messageDelta(frame);
      case 'error':
        throw toError(frame);
      default:
        return undefined;
    }
  }

  /** Its usage is kept and not told: the output in it is that of the start, and a stream that is left is charged by it. */
  #messageStart({ message }: JsonObject): Piece {
    if (isObject(message)) this.#count(message.usage);
    return piece({ role: 'assistant', content: '' });
  }

  #blockStart({ index, content_block: block }: JsonObject): Piece | undefined {
    if (!isObject(block)) return undefined;
    if (block.type === 'text') return textPiece(block.text);
    if (block.type === 'thinking') return reasoningPiece(block.thinking);
    if (block.type !== 'tool_use') return undefined;
    const { id, name } = readCall(block);
    const call: OpenCall = { index: this.#calls++, input: block.input, isTold: false };
    this.#open.set(index, call);
    return callPiece({ index: call.index, id, type: 'function', function: { name, arguments: '' } });
  }

  #blockDelta({ index, delta }: JsonObject): Piece | undefined {
    if (!isObject(delta)) return undefined;
    if (delta.type === 'text_delta') return textPiece(delta.text);
    if (delta.type === 'thinking_delta') return reasoningPiece(delta.thinking);
    if (delta.type !== 'input_json_delta') return undefined;
    const call = this.#open.get(index);
    const text = textOf(delta.partial_json);
    // The vendor's own tools are told the same way; they are no calls of the caller's.
    if (call === undefined || text === undefined || text === '') return undefined;
    call.isTold = true;
    return callPiece({ index: call.index, function: { arguments: text } });
  }

  /** A call without arguments has no delta, and a client cannot parse ''. */
  #blockStop({ index }: JsonObject): Piece | undefined {
    const call = this.#open.get(index);
    if (call === undefined) return undefined;
    this.#open.delete(index);
    if (call.isTold) return undefined;
    return callPiece({ index: call.index, function: { arguments: JSON.stringify(call.input ?? {}) } });
  }

  #messageDelta({ delta, usage }: JsonObject): Piece {
    const reason = isObject(delta) ? textOf(delta.stop_reason) : undefined;
    const told = this.#count(usage);
    if (reason === undefined) return { delta: undefined, finish: null, usage: told };
    this.isFinished = true;
    return { delta: {}, finish: finishReason(reason), usage: told };
  }

  #count(usage: JsonValue | undefined): TokenUsage | undefined {
    if (!isObject(usage)) return undefined;
    this.#tokens = countTokens(usage, this.#tokens);
    return toUsage(this.#tokens);
  }
}

function textPiece(text: JsonValue | undefined): Piece | undefined {
  return typeof text !== 'string' || text === '' ? undefined : piece({ content: text });
}

function reasoningPiece(text: JsonValue | undefined): Piece | undefined {
  return typeof text !== 'string' || text === '' ? undefined : piece({ reasoning_content: text });
}

function callPiece(call: CallDelta): Piece {
  return piece({ tool_calls: [call] });
}

function piece(delta: Delta): Piece {
  return { delta, finish: null, usage: undefined };
}

function toError({ error }: JsonObject): UpstreamError {
  const fault = isObject(error) ? faultOf(error) : undefined;
  return new UpstreamError(fault ?? 'server', `an error event: ${JSON.stringify(error)}`);
}
