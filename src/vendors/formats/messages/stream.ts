import { UpstreamError } from '../../../errors.ts';
import type { JsonObject, JsonValue } from '../../../json.ts';
import { parseObject } from '../../kit/http.ts';
import { isObject, objectAt, stringAt } from '../../kit/json.ts';
import { parseEvent, readEvents, type SseEvent } from '../../kit/sse.ts';
import type { ChatAnswer, ChatChunk, TokenUsage } from '../../vendor.ts';
import {
  completionId,
  countTokens,
  finishReason,
  type Message,
  NO_TOKENS,
  readCall,
  type Tokens,
  toCompletion,
  toUsage,
} from './answer.ts';
import { wire } from './wire.ts';

/** What one event adds to the answer. */
export interface AnswerDelta {
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
export async function* readDeltas(body: AsyncIterable<Buffer>): AsyncIterable<AnswerDelta> {
  const reader = new EventReader();
  let isStarted = false;
  let isEnded = false;
  try {
    // Read on behind the last event: a body that is read to its end leaves its connection to the next call.
    for await (const event of readEvents(body)) {
      if (isEnded || event.data === '' || event.event === 'ping') continue;
      const frame = frameOf(event);
      isEnded = frame.type === 'message_stop';
      const answer = reader.read(frame);
      if (answer === undefined) continue;
      isStarted = true;
      yield answer;
    }
  } catch (error) {
    if (!isEnded) throw error;
  }
  if (isStarted && !(isEnded && reader.isFinished)) {
    throw new UpstreamError('server', 'the stream ended in the middle of its message');
  }
}

/** An event of an error is one, whatever it holds. */
export function frameOf(event: SseEvent): JsonObject {
  const isError = event.event === 'error';
  const frame = isError ? (parseObject(event.data) ?? { type: 'error' }) : parseEvent(event);
  wire.faults.throwIfError(frame);
  return frame;
}

export async function* toChunks(pieces: AsyncIterable<AnswerDelta>, model: string): AsyncIterable<ChatChunk> {
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
export async function joinDeltas(pieces: AsyncIterable<AnswerDelta>, model: string): Promise<ChatAnswer> {
  const message: Message = { text: '', reasoning: '', calls: [], finish: '' };
  let usage: TokenUsage | undefined;
  for await (const answer of pieces) {
    usage = answer.usage ?? usage;
    message.text += answer.delta?.content ?? '';
    message.reasoning += answer.delta?.reasoning_content ?? '';
    message.finish = answer.finish ?? message.finish;
    for (const call of answer.delta?.tool_calls ?? []) addCall(message, call);
  }
  if (message.finish === '') throw new UpstreamError('server', 'the stream held no message');
  return { body: toCompletion(message, model), usage };
}

function addCall({ calls }: Message, { index, id, function: made }: CallDelta): void {
  const call = calls[index];
  if (call !== undefined) call.arguments += made.arguments;
  else calls.push({ id: id ?? '', name: made.name ?? '', arguments: made.arguments });
}

interface OpenCall {
  readonly index: number;
  readonly input: JsonValue | undefined;
  hasArguments: boolean;
}

/** Events of one stream, in order, to what they add. */
class EventReader {
  isFinished = false;
  #tokens: Tokens = NO_TOKENS;
  #calls = 0;
  /** By the index of its block, which counts blocks of every type. */
  readonly #open = new Map<JsonValue | undefined, OpenCall>();

  /** Undefined for an event that adds nothing, or that this version does not know. */
  read(frame: JsonObject): AnswerDelta | undefined {
    switch (stringAt(frame, 'type') ?? '') {
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
      default:
        return undefined;
    }
  }

  /** Its usage is kept and not told: the output in it is that of the start, and a stream that is left is charged by it. */
  #messageStart({ message }: JsonObject): AnswerDelta {
    if (isObject(message)) this.#count(message.usage);
    return toDelta({ role: 'assistant', content: '' });
  }

  #blockStart({ index, content_block: block }: JsonObject): AnswerDelta | undefined {
    if (!isObject(block)) return undefined;
    if (block.type === 'text') return textDelta(block.text);
    if (block.type === 'thinking') return reasoningDelta(block.thinking);
    if (block.type !== 'tool_use') return undefined;
    const { id, name } = readCall(block);
    const call: OpenCall = { index: this.#calls++, input: block.input, hasArguments: false };
    this.#open.set(index, call);
    return callDelta({ index: call.index, id, type: 'function', function: { name, arguments: '' } });
  }

  #blockDelta({ index, delta }: JsonObject): AnswerDelta | undefined {
    if (!isObject(delta)) return undefined;
    if (delta.type === 'text_delta') return textDelta(delta.text);
    if (delta.type === 'thinking_delta') return reasoningDelta(delta.thinking);
    if (delta.type !== 'input_json_delta') return undefined;
    const call = this.#open.get(index);
    const text = stringAt(delta, 'partial_json');
    // The vendor's own tools are told the same way; they are no calls of the caller's.
    if (call === undefined || text === undefined || text === '') return undefined;
    call.hasArguments = true;
    return callDelta({ index: call.index, function: { arguments: text } });
  }

  /** A call without arguments has no delta, and a client cannot parse ''. */
  #blockStop({ index }: JsonObject): AnswerDelta | undefined {
    const call = this.#open.get(index);
    if (call === undefined) return undefined;
    this.#open.delete(index);
    if (call.hasArguments) return undefined;
    return callDelta({ index: call.index, function: { arguments: JSON.stringify(call.input ?? {}) } });
  }

  #messageDelta(frame: JsonObject): AnswerDelta {
    const reason = stringAt(objectAt(frame, 'delta'), 'stop_reason');
    const usage = this.#count(frame.usage);
    if (reason === undefined) return { delta: undefined, finish: null, usage };
    this.isFinished = true;
    return { delta: {}, finish: finishReason(reason), usage };
  }

  #count(usage: JsonValue | undefined): TokenUsage | undefined {
    if (!isObject(usage)) return undefined;
    this.#tokens = countTokens(usage, this.#tokens);
    return toUsage(this.#tokens);
  }
}

function textDelta(text: JsonValue | undefined): AnswerDelta | undefined {
  return typeof text !== 'string' || text === '' ? undefined : toDelta({ content: text });
}

function reasoningDelta(text: JsonValue | undefined): AnswerDelta | undefined {
  return typeof text !== 'string' || text === '' ? undefined : toDelta({ reasoning_content: text });
}

function callDelta(call: CallDelta): AnswerDelta {
  return toDelta({ tool_calls: [call] });
}

function toDelta(delta: Delta): AnswerDelta {
  return { delta, finish: null, usage: undefined };
}
