import { type ErrorEnvelope, UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { countAt, objectAt, objectsAt, stringAt } from '../../json-read.ts';
import type { ChatChunk } from '../../vendors/index.ts';
import type { FrameWriter, Settled } from '../format.ts';
import { callId, type MessageIds, stopReason } from './answer.ts';
import { messagesError } from './errors.ts';
import { eventOf } from './events.ts';
import { UNSIGNED_MARK } from './thoughts.ts';
import { usageView } from './usage.ts';

export interface WriterTerms {
  readonly ids: MessageIds;
  /** As estimated here: the upstream tells its own count last, and this format wants one first. */
  readonly inputTokens: number;
  readonly requestId: string;
}

type OpenBlock =
  | { readonly type: 'text' | 'thinking' }
  | { readonly type: 'tool_use'; readonly call: number; hasInput: boolean };

/** Chunks of chat as the events of one message: blocks one after the other, one open at a time. */
export class MessagesWriter implements FrameWriter<ChatChunk> {
  readonly #terms: WriterTerms;
  #isStarted = false;
  #open: OpenBlock | undefined;
  /** Of the open block, or of the next one where none is. */
  #index = 0;
  #calls = 0;
  #finish: string | undefined;
  #textHead = '';

  constructor(terms: WriterTerms) {
    this.#terms = terms;
  }

  write({ body, written }: ChatChunk): string {
    if (body === undefined) return '';
    const start = this.#isStarted ? '' : this.#start();
    return start + (written === undefined ? this.#writeChoice(body) : this.#text(written.content));
  }

  end(settled: Settled): string {
    const start = this.#isStarted ? '' : this.#start();
    const delta = { stop_reason: stopReason(this.#finish, this.#calls > 0), stop_sequence: null };
    const told = eventOf({ type: 'message_delta', delta, usage: usageView(settled) });
    return start + this.#close() + told + eventOf({ type: 'message_stop' });
  }

  fail(error: ErrorEnvelope): string {
    return eventOf({ ...messagesError(error, this.#terms.requestId), type: 'error' });
  }

  #start(): string {
    const { ids, inputTokens } = this.#terms;
    this.#isStarted = true;
    const usage = {
      input_tokens: inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    };
    const message = {
      id: ids.id,
      type: 'message',
      role: 'assistant',
      model: ids.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    return eventOf({ type: 'message_start', message });
  }

  #writeChoice(body: JsonObject): string {
    const [choice] = objectsAt(body, 'choices');
    const delta = objectAt(choice, 'delta');
    this.#finish = stringAt(choice, 'finish_reason') ?? this.#finish;
    if (delta === undefined) return '';
    let events = this.#thought(stringAt(delta, 'reasoning_content') ?? '');
    events += this.#text(stringAt(delta, 'content') ?? stringAt(delta, 'refusal') ?? '');
    for (const call of objectsAt(delta, 'tool_calls')) events += this.#call(call);
    return events;
  }

  #text(text: string): string {
    if (text === '') return '';
    const opened = this.#open?.type === 'text' ? '' : this.#openText();
    return `${opened}${this.#textHead}${JSON.stringify(text)}}}\n\n`;
  }

  /** Most events of a stream are this one: what is the same in all of them is written once. */
  #openText(): string {
    const opened = this.#openBlock({ type: 'text' }, { type: 'text', text: '' });
    const head = `{"type":"content_block_delta","index":${this.#index},"delta":{"type":"text_delta","text":`;
    this.#textHead = `event: content_block_delta\ndata: ${head}`;
    return opened;
  }

  #thought(thinking: string): string {
    if (thinking === '') return '';
    const block = { type: 'thinking', thinking: '', signature: '' };
    const opened = this.#open?.type === 'thinking' ? '' : this.#openBlock({ type: 'thinking' }, block);
    return opened + this.#delta({ type: 'thinking_delta', thinking });
  }

  /** The first piece of a call names it; the others hold its arguments. */
  #call(call: JsonObject): string {
    const index = countAt(call, 'index') ?? 0;
    const called = objectAt(call, 'function');
    let events = '';
    if (this.#open?.type !== 'tool_use' || this.#open.call !== index) {
      if (index < this.#calls) throw new UpstreamError('garbled', 'pieces of two calls are mixed');
      this.#calls = index + 1;
      const block = { id: callId(stringAt(call, 'id')), name: stringAt(called, 'name') ?? '', input: {} };
      events = this.#openBlock({ type: 'tool_use', call: index, hasInput: false }, { type: 'tool_use', ...block });
    }
    const text = stringAt(called, 'arguments') ?? '';
    if (text === '') return events;
    if (this.#open?.type === 'tool_use') this.#open.hasInput = true;
    return events + this.#delta({ type: 'input_json_delta', partial_json: text });
  }

  #openBlock(block: OpenBlock, content_block: JsonObject): string {
    const closed = this.#close();
    this.#open = block;
    return closed + eventOf({ type: 'content_block_start', index: this.#index, content_block });
  }

  #close(): string {
    const open = this.#open;
    if (open === undefined) return '';
    let last = '';
    if (open.type === 'thinking') last = this.#delta({ type: 'signature_delta', signature: UNSIGNED_MARK });
    // A client cannot parse an input of no characters.
    if (open.type === 'tool_use' && !open.hasInput)
      last = this.#delta({ type: 'input_json_delta', partial_json: '{}' });
    const stop = eventOf({ type: 'content_block_stop', index: this.#index });
    this.#open = undefined;
    this.#index++;
    return last + stop;
  }

  #delta(delta: JsonObject): string {
    return eventOf({ type: 'content_block_delta', index: this.#index, delta });
  }
}
