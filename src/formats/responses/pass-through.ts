import type { ErrorEnvelope } from '../../errors.ts';
import { type IdPrefix, newId } from '../../ids.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt, objectsAt, stringAt } from '../../json-read.ts';
import type { FormatFrame } from '../../vendors/index.ts';
import type { FrameWriter, PassThrough, Settled } from '../format.ts';
import { Events } from './events.ts';
import { given, type ResponsesRequest } from './request.ts';
import { type Outcome, type ResponseObject, responsesUsage } from './response.ts';
import type { Tools } from './tools.ts';

/** Seals what only one upstream can read, so that it comes back to that one alone and tells nothing of it meanwhile. */
export interface ReasoningSeal {
  seal(upstreamId: string, text: string): string;
  /** Undefined for what this upstream did not make. */
  unseal(upstreamId: string, sealed: string): string | undefined;
}

export interface PassTerms {
  readonly request: ResponsesRequest;
  readonly tools: Tools;
  readonly response: ResponseObject;
  readonly reasoning: ReasoningSeal;
  readonly keep: (output: readonly JsonObject[]) => Promise<void>;
}

/**
 * At an upstream that speaks the format itself. Its response object is not passed on: it echoes the request, which is known
 * here, and may have fields of its own. Nothing is stored there, so that ids mean nothing to it.
 */
export function passThrough(terms: PassTerms): PassThrough {
  const { request, tools, response, keep } = terms;
  return {
    workOf: ({ responses }) => responses,
    request: (upstreamId) => ({ body: toUpstream(request, tools, upstreamId, terms.reasoning) }),
    outputOf: ({ output }) => output,
    async whole(body, settled, upstreamId) {
      const output = objectsAt(body, 'output').map((item) => toPublic(item, upstreamId, terms));
      await keep(output);
      return response.whole({ ...passedOutcome(body), output, usage: responsesUsage(settled) });
    },
    writer: (upstreamId) => new PassWriter(terms, upstreamId),
  };
}

/** The fields that are sent on as they are; what a newer client adds might be refused. */
const SENT = [
  ...['instructions', 'max_output_tokens', 'temperature', 'top_p', 'top_logprobs', 'text', 'reasoning', 'include'],
  ...['metadata', 'user', 'safety_identifier', 'prompt_cache_key', 'service_tier', 'truncation'],
] as const;

function toUpstream(
  { body, input }: ResponsesRequest,
  { sent }: Tools,
  upstreamId: string,
  reasoning: ReasoningSeal,
): JsonObject {
  const wanted: Record<string, JsonValue> = {
    input: typeof body.input === 'string' ? body.input : input.flatMap((item) => itemFor(item, upstreamId, reasoning)),
    store: false,
  };
  const names = sent.length === 0 ? SENT : [...SENT, 'tool_choice', 'parallel_tool_calls'];
  for (const name of names) {
    const value = given(body, name);
    if (value !== undefined) wanted[name] = value;
  }
  if (sent.length > 0) wanted.tools = sent;
  return wanted;
}

/** Without the ids that were given here. Thoughts go back to the upstream that had them, and to no other. */
function itemFor(item: JsonObject, upstreamId: string, reasoning: ReasoningSeal): JsonObject[] {
  const { id: _, ...rest } = item;
  if (item.type !== 'reasoning') return [rest];
  const opened = reasoning.unseal(upstreamId, stringAt(item, 'encrypted_content') ?? '');
  const own = opened === undefined ? undefined : (JSON.parse(opened) as { id: string; content: string });
  return own === undefined ? [] : [{ ...rest, id: own.id, encrypted_content: own.content }];
}

const PREFIXES: Readonly<Record<string, IdPrefix>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
};

/** An item under an id of its own, with what only its upstream can read sealed. */
function toPublic(item: JsonObject, upstreamId: string, { reasoning }: PassTerms, id = newItemId(item)): JsonObject {
  const content = stringAt(item, 'encrypted_content');
  if (content === undefined) return { ...item, id };
  const sealed = reasoning.seal(upstreamId, JSON.stringify({ id: stringAt(item, 'id') ?? '', content }));
  return { ...item, id, encrypted_content: sealed };
}

function newItemId({ type }: JsonObject): string {
  return newId(PREFIXES[typeof type === 'string' ? type : ''] ?? 'msg');
}

/** The format's own words; other servers have tiers that give them away. */
const TIERS: ReadonlySet<JsonValue | undefined> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

function passedOutcome(response: JsonObject): Pick<Outcome, 'status' | 'incompleteReason' | 'serviceTier'> {
  const tier = response.service_tier;
  const serviceTier = TIERS.has(tier) ? tier : undefined;
  if (response.status !== 'incomplete') return { status: 'completed', serviceTier };
  const reason = stringAt(objectAt(response, 'incomplete_details'), 'reason');
  return { status: 'incomplete', incompleteReason: reason ?? 'max_output_tokens', serviceTier };
}

/** The upstream's events under ids of this answer, numbered again, and settled before the last. */
class PassWriter implements FrameWriter<FormatFrame> {
  readonly #terms: PassTerms;
  readonly #upstreamId: string;
  readonly #events = new Events();
  readonly #ids = new Map<string, string>();
  readonly #output: JsonObject[] = [];
  #hasBegun = false;
  #outcome: ReturnType<typeof passedOutcome> = { status: 'completed' };
  #kept: Promise<void> | undefined;

  constructor(terms: PassTerms, upstreamId: string) {
    this.#terms = terms;
    this.#upstreamId = upstreamId;
  }

  write({ event: type, body }: FormatFrame): string {
    const start = this.#begin();
    if (type === 'response.completed' || type === 'response.incomplete') {
      this.#outcome = passedOutcome(objectAt(body, 'response') ?? {});
      this.#kept = this.#terms.keep(this.#output);
      return start;
    }
    const item = objectAt(body, 'item');
    const itemId = stringAt(body, 'item_id');
    // What names neither an item nor a part of one tells of the upstream's own queue.
    if (!type.startsWith('response.') || (item === undefined && itemId === undefined)) return start;
    const { type: _, sequence_number: __, obfuscation: ___, ...fields } = body;
    if (item === undefined) return start + this.#events.of(type, { ...fields, item_id: this.#idOf(itemId ?? '', {}) });
    const own = toPublic(item, this.#upstreamId, this.#terms, this.#idOf(stringAt(item, 'id') ?? '', item));
    if (type === 'response.output_item.done') this.#output.push(own);
    return start + this.#events.of(type, { ...fields, item: own });
  }

  async end(settled: Settled): Promise<string> {
    this.#kept ??= this.#terms.keep(this.#output);
    await this.#kept;
    return this.#last({ ...this.#outcome, output: this.#output, usage: responsesUsage(settled) });
  }

  fail({ error: { code, message } }: ErrorEnvelope, settled: Settled | undefined): string {
    const start = this.#begin();
    const usage = settled === undefined ? null : responsesUsage(settled);
    return start + this.#last({ status: 'failed', output: this.#output, usage, error: { code, message } });
  }

  #last(outcome: Outcome): string {
    return this.#events.ofResponse(`response.${outcome.status}`, this.#terms.response.text(outcome));
  }

  #begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return this.#events.beginning(this.#terms.response);
  }

  #idOf(upstreamItem: string, item: JsonObject): string {
    const id = this.#ids.get(upstreamItem) ?? newItemId(item);
    this.#ids.set(upstreamItem, id);
    return id;
  }
}
