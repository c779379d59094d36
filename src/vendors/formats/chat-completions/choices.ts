import { UpstreamError } from '../../../errors.ts';
import type { JsonObject, JsonValue } from '../../../json.ts';
import type { FaultTable } from '../../kit/faults.ts';
import { isList, isObject, listAt, objectAt, stringAt } from '../../kit/json.ts';

/**
 * An answer or a frame as a caller may see it: only the fields of the format that cannot name the upstream. Its
 * `id` is given before it is sent on.
 */
export function toBody(
  object: 'chat.completion' | 'chat.completion.chunk',
  model: string,
  from: JsonObject,
  choices: readonly JsonObject[],
): JsonObject {
  const created = typeof from.created === 'number' ? from.created : 0;
  const tier = from.service_tier;
  if (typeof tier !== 'string' || !TIERS.has(tier)) return { id: '', object, created, model, choices };
  return { id: '', object, created, model, choices, service_tier: tier };
}

/** The format's own words; other servers have tiers that give them away. */
const TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

/** A choice of a whole answer. */
export function toChoice(choice: JsonValue, at: number, faults: FaultTable): JsonObject {
  const message = isObject(choice) ? objectAt(choice, 'message') : undefined;
  if (!isObject(choice) || message === undefined) throw new UpstreamError('garbled', 'a choice without a message');
  const clean = {
    index: indexOf(choice, at),
    message: normalize(message),
    finish_reason: finishReasonOf(choice, faults),
  };
  return choice.logprobs === undefined ? clean : { ...clean, logprobs: choice.logprobs };
}

/** What must be remembered from one frame to the next. */
export class Choices {
  readonly #faults: FaultTable;
  readonly #seen = new Set<number>();
  readonly #finished = new Set<number>();
  readonly #toolCalls = new Map<number, number>();

  constructor(faults: FaultTable) {
    this.#faults = faults;
  }

  /** Every choice that began has told why it ended. */
  get areFinished(): boolean {
    return this.#finished.size > 0 && this.#finished.size === this.#seen.size;
  }

  /** Notes a choice of a frame that was not read. */
  begin(index: number): void {
    this.#seen.add(index);
  }

  /** A choice of a frame. */
  read(choice: JsonValue, at: number): JsonObject {
    if (!isObject(choice)) throw new UpstreamError('garbled', 'a choice is not an object');
    const index = indexOf(choice, at);
    const finish_reason = finishReasonOf(choice, this.#faults);
    this.#seen.add(index);
    if (finish_reason !== null) this.#finished.add(index);
    const delta = this.#withToolIndexes(index, normalize(objectAt(choice, 'delta') ?? {}));
    if (choice.logprobs === undefined) return { index, delta, finish_reason };
    return { index, delta, finish_reason, logprobs: choice.logprobs };
  }

  /** Callers put the pieces of a tool call together by its index, which some servers leave out. */
  #withToolIndexes(choice: number, delta: JsonObject): JsonObject {
    const calls = delta.tool_calls;
    if (!isList(calls) || calls.length === 0) return delta;
    return { ...delta, tool_calls: calls.map((call) => (isObject(call) ? this.#withIndex(choice, call) : call)) };
  }

  #withIndex(choice: number, call: JsonObject): JsonObject {
    const last = this.#toolCalls.get(choice) ?? -1;
    // A call is named in its first piece only.
    const isNext = stringAt(call, 'id') !== undefined || last === -1;
    const index = typeof call.index === 'number' ? call.index : isNext ? last + 1 : last;
    this.#toolCalls.set(choice, Math.max(index, last));
    return { ...call, index };
  }
}

function indexOf(choice: JsonObject, at: number): number {
  return typeof choice.index === 'number' ? choice.index : at;
}

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['eos', 'stop'],
  ['model_length', 'length'],
]);

function finishReasonOf(choice: JsonObject, faults: FaultTable): string | null {
  const reason = stringAt(choice, 'finish_reason') ?? '';
  if (reason === '') return null;
  if (reason === 'error') throw faults.toError(choice.error ?? 'the answer ended with an error');
  return FINISH_REASONS.get(reason) ?? reason;
}

/** Reasoning under one name, whatever the server calls it, and content as text. */
function normalize(message: JsonObject): JsonObject {
  if (isList(message.content)) return withoutParts(message, message.content);
  if (message.reasoning === undefined) return message;
  const { reasoning, ...rest } = message;
  if (typeof reasoning !== 'string' || typeof rest.reasoning_content === 'string') return rest;
  return { ...rest, reasoning_content: reasoning };
}

function withoutParts(message: JsonObject, parts: readonly JsonValue[]): JsonObject {
  const thoughts = parts.flatMap((part) => (isObject(part) ? (listAt(part, 'thinking') ?? []) : []));
  const text = { ...message, content: joinTexts(parts) };
  return thoughts.length === 0 ? text : { ...text, reasoning_content: joinTexts(thoughts) };
}

function joinTexts(parts: readonly JsonValue[]): string {
  return parts.map((part) => (isObject(part) ? (stringAt(part, 'text') ?? '') : '')).join('');
}
