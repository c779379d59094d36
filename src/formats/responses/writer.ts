import { type ErrorEnvelope, UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { isObject, listAt, objectAt, objectsAt, stringAt } from '../../json-read.ts';
import type { ChatChunk } from '../../vendors/index.ts';
import type { FrameWriter, Settled } from '../format.ts';
import type { Events } from './events.ts';
import { newCallId, toolOf } from './items.ts';
import { OpenCall, OpenMessage, OpenReasoning } from './open-items.ts';
import { incompleteReason, type Outcome, type ResponseObject, responsesUsage } from './response.ts';
import type { ToolName } from './tools.ts';

/** What one stream is written from. */
export interface StreamTerms {
  readonly response: ResponseObject;
  readonly events: Events;
  readonly named: ReadonlyMap<string, ToolName>;
  /** Begins to keep the output; what it resolves to is awaited before the stream ends. */
  readonly keep: (output: readonly JsonObject[]) => Promise<void>;
}

type OpenItem = OpenMessage | OpenReasoning | OpenCall;

/** Chunks of chat as events: one item is closed before the next begins. */
export class ResponsesWriter implements FrameWriter<ChatChunk> {
  readonly #terms: StreamTerms;
  readonly #events: Events;
  readonly #output: JsonObject[] = [];
  /** How many calls have begun, by which chat numbers them. */
  #calls = 0;
  #open: OpenItem | undefined;
  #hasBegun = false;
  #finish: JsonValue | undefined;
  #serviceTier: JsonValue | undefined;
  #kept: Promise<void> | undefined;

  constructor(terms: StreamTerms) {
    this.#terms = terms;
    this.#events = terms.events;
  }

  write({ body, written }: ChatChunk): string {
    if (body === undefined) return '';
    // By far the most common: text for the message that is open.
    if (written !== undefined && this.#open instanceof OpenMessage) return this.#open.addText(written.content);
    const start = this.#begin(body);
    if (written !== undefined) return start + this.#addText(written.content);
    const choice = listAt(body, 'choices')?.[0];
    return isObject(choice) ? start + this.#add(choice) : start;
  }

  async end(settled: Settled): Promise<string> {
    const closing = this.#close(this.#status);
    this.#kept ??= this.#terms.keep(this.#output);
    await this.#kept;
    const more = { usage: responsesUsage(settled), incompleteReason: incompleteReason(this.#finish) };
    return closing + this.#last(this.#status, more);
  }

  /** What was sent stays in it, the item that broke off included. */
  fail({ error }: ErrorEnvelope, settled: Settled | undefined): string {
    const start = this.#begin({});
    if (this.#open !== undefined) this.#output.push(this.#open.item('incomplete'));
    this.#open = undefined;
    const usage = settled === undefined ? null : responsesUsage(settled);
    return start + this.#last('failed', { usage, error: { code: error.code, message: error.message } });
  }

  #last(status: 'completed' | 'incomplete' | 'failed', more: Omit<Outcome, 'status' | 'output'>): string {
    const outcome = { status, output: this.#output, serviceTier: this.#serviceTier, ...more };
    return this.#events.ofResponse(`response.${status}`, this.#terms.response.text(outcome));
  }

  #begin(body: JsonObject): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    this.#serviceTier = body.service_tier;
    return this.#events.beginning(this.#terms.response);
  }

  #add(choice: JsonObject): string {
    const delta = objectAt(choice, 'delta') ?? {};
    let text = '';
    const reasoning = stringAt(delta, 'reasoning_content') ?? '';
    if (reasoning !== '') text += this.#addReasoning(reasoning);
    const content = stringAt(delta, 'content') ?? '';
    if (content !== '') text += this.#addText(content, objectsAt(objectAt(choice, 'logprobs'), 'content'));
    const refusal = stringAt(delta, 'refusal') ?? '';
    if (refusal !== '') text += this.#addRefusal(refusal);
    for (const call of objectsAt(delta, 'tool_calls')) text += this.#addCall(call);
    const finish = choice.finish_reason ?? null;
    return finish === null ? text : text + this.#finishWith(finish);
  }

  /** The output is whole now: it is kept while the call is settled. */
  #finishWith(finish: JsonValue): string {
    this.#finish = finish;
    const isEmpty = this.#open === undefined && this.#output.length === 0;
    const text = (isEmpty ? this.#addText('') : '') + this.#close(this.#status);
    this.#kept ??= this.#terms.keep(this.#output);
    return text;
  }

  #addReasoning(text: string): string {
    if (this.#open instanceof OpenReasoning) return this.#open.add(text);
    return this.#start(new OpenReasoning(this.#events, this.#nextIndex)) + this.#addReasoning(text);
  }

  #addText(text: string, logprobs?: readonly JsonObject[]): string {
    if (this.#open instanceof OpenMessage) return this.#open.addText(text, logprobs);
    // What is empty opens nothing, unless the whole answer is empty.
    if (text === '' && this.#finish === undefined) return '';
    return this.#start(new OpenMessage(this.#events, this.#nextIndex)) + this.#addText(text, logprobs);
  }

  #addRefusal(text: string): string {
    if (this.#open instanceof OpenMessage) return this.#open.addRefusal(text);
    return this.#start(new OpenMessage(this.#events, this.#nextIndex)) + this.#addRefusal(text);
  }

  #addCall(call: JsonObject): string {
    const called = objectAt(call, 'function');
    const index = typeof call.index === 'number' ? call.index : this.#calls;
    const input = stringAt(called, 'arguments') ?? '';
    if (this.#open instanceof OpenCall && this.#open.index === index) return this.#open.add(input);
    if (index < this.#calls) throw new UpstreamError('garbled', 'the pieces of several calls are mixed');
    this.#calls = index + 1;
    const tool = toolOf(stringAt(called, 'name') ?? '', this.#terms.named);
    const made = { callId: newCallId(stringAt(call, 'id')), tool, index };
    const start = this.#close('completed');
    const open = new OpenCall(this.#events, this.#nextIndex, made);
    return start + this.#start(open) + open.add(input);
  }

  get #nextIndex(): number {
    return this.#output.length + (this.#open === undefined ? 0 : 1);
  }

  #start(item: OpenItem): string {
    const closing = this.#close('completed');
    this.#open = item;
    return closing + item.begin();
  }

  #close(status: 'completed' | 'incomplete'): string {
    const open = this.#open;
    if (open === undefined) return '';
    this.#open = undefined;
    const item = open.item(status);
    this.#output.push(item);
    return open.end(item);
  }

  /** Of the whole answer, and so of its last item. */
  get #status(): 'completed' | 'incomplete' {
    return incompleteReason(this.#finish) === undefined ? 'completed' : 'incomplete';
  }
}
