import { newId } from '../../ids.ts';
import type { JsonObject } from '../../json.ts';
import { type Events, eventHead } from './events.ts';
import {
  callItem,
  customInput,
  type ItemStatus,
  messageItem,
  reasoningItem,
  refusalPart,
  summaryPart,
  textPart,
} from './items.ts';
import type { ToolName } from './tools.ts';

/** The items of a stream while they are made: each writes its own events. */
abstract class OpenOutput {
  protected readonly events: Events;
  protected readonly outputIndex: number;

  constructor(events: Events, outputIndex: number) {
    this.events = events;
    this.outputIndex = outputIndex;
  }

  /** As it is now. */
  abstract item(status: ItemStatus): JsonObject;
  /** The events between the last delta and the item's end. */
  protected abstract finish(): string;

  begin(): string {
    return this.events.of('response.output_item.added', {
      output_index: this.outputIndex,
      item: this.item('in_progress'),
    });
  }

  end(item: JsonObject): string {
    return this.finish() + this.events.of('response.output_item.done', { output_index: this.outputIndex, item });
  }
}

/** A part of a message that is being written. */
interface OpenPart {
  readonly kind: 'output_text' | 'refusal';
  readonly place: JsonObject;
  /** The head of a delta, up to its text. */
  readonly head: string;
  text: string;
  readonly logprobs: JsonObject[];
}

export class OpenMessage extends OpenOutput {
  readonly #id = newId('msg');
  readonly #parts: JsonObject[] = [];
  #part: OpenPart | undefined;

  item(status: ItemStatus): JsonObject {
    const open = this.#part === undefined ? [] : [contentPart(this.#part)];
    return messageItem(this.#id, status, [...this.#parts, ...open]);
  }

  addText(text: string, logprobs: readonly JsonObject[] = NO_LOGPROBS): string {
    const part = this.#part;
    if (part?.kind !== 'output_text') return this.#open('output_text') + this.addText(text, logprobs);
    part.text += text;
    if (logprobs.length === 0)
      return text === '' ? '' : this.events.withHead(part.head, `${JSON.stringify(text)},"logprobs":[],`);
    part.logprobs.push(...logprobs);
    return this.events.withHead(part.head, `${JSON.stringify(text)},"logprobs":${JSON.stringify(logprobs)},`);
  }

  addRefusal(text: string): string {
    const part = this.#part;
    if (part?.kind !== 'refusal') return this.#open('refusal') + this.addRefusal(text);
    part.text += text;
    return this.events.withHead(part.head, `${JSON.stringify(text)},`);
  }

  protected override finish(): string {
    const part = this.#part;
    if (part === undefined) return '';
    this.#part = undefined;
    const whole = contentPart(part);
    this.#parts.push(whole);
    const done =
      part.kind === 'output_text'
        ? this.events.of('response.output_text.done', { ...part.place, text: part.text, logprobs: part.logprobs })
        : this.events.of('response.refusal.done', { ...part.place, refusal: part.text });
    return done + this.events.of('response.content_part.done', { ...part.place, part: whole });
  }

  #open(kind: OpenPart['kind']): string {
    const closing = this.finish();
    const place = { item_id: this.#id, output_index: this.outputIndex, content_index: this.#parts.length };
    const head = `${eventHead(`response.${kind}.delta`, place)}"delta":`;
    this.#part = { kind, place, head, text: '', logprobs: [] };
    return closing + this.events.of('response.content_part.added', { ...place, part: contentPart(this.#part) });
  }
}

const NO_LOGPROBS: readonly JsonObject[] = [];

function contentPart({ kind, text, logprobs }: OpenPart): JsonObject {
  return kind === 'output_text' ? textPart(text, [...logprobs]) : refusalPart(text);
}

/** Thoughts of a model, which chat calls `reasoning_content`. */
export class OpenReasoning extends OpenOutput {
  readonly #id = newId('rs');
  readonly #place = { item_id: this.#id, output_index: this.outputIndex, summary_index: 0 };
  readonly #head = `${eventHead('response.reasoning_summary_text.delta', this.#place)}"delta":`;
  #text = '';

  item(status: ItemStatus): JsonObject {
    return reasoningItem(this.#id, status === 'in_progress' ? [] : [this.#text]);
  }

  override begin(): string {
    const part = summaryPart('');
    return super.begin() + this.events.of('response.reasoning_summary_part.added', { ...this.#place, part });
  }

  add(text: string): string {
    this.#text += text;
    return this.events.withHead(this.#head, `${JSON.stringify(text)},`);
  }

  protected override finish(): string {
    const [place, text] = [this.#place, this.#text];
    return (
      this.events.of('response.reasoning_summary_text.done', { ...place, text }) +
      this.events.of('response.reasoning_summary_part.done', { ...place, part: summaryPart(text) })
    );
  }
}

/** A call that has begun, by the number that chat gives it. */
interface BegunCall {
  readonly callId: string;
  readonly tool: ToolName;
  readonly index: number;
}

export class OpenCall extends OpenOutput {
  readonly index: number;
  readonly #call: BegunCall;
  readonly #id: string;
  readonly #place: JsonObject;
  readonly #head: string;
  #arguments = '';

  constructor(events: Events, outputIndex: number, call: BegunCall) {
    super(events, outputIndex);
    this.index = call.index;
    this.#call = call;
    this.#id = newId(call.tool.isCustom ? 'ctc' : 'fc');
    this.#place = { item_id: this.#id, output_index: outputIndex };
    this.#head = `${eventHead('response.function_call_arguments.delta', this.#place)}"delta":`;
  }

  item(status: ItemStatus): JsonObject {
    return callItem({ ...this.#call, id: this.#id, arguments: this.#arguments }, status);
  }

  /** The input of a custom tool stands inside JSON, and is told when that is whole. */
  add(text: string): string {
    this.#arguments += text;
    if (text === '' || this.#call.tool.isCustom) return '';
    return this.events.withHead(this.#head, `${JSON.stringify(text)},`);
  }

  protected override finish(): string {
    const place = this.#place;
    if (!this.#call.tool.isCustom) {
      return this.events.of('response.function_call_arguments.done', {
        ...place,
        name: this.#call.tool.name,
        arguments: this.#arguments,
      });
    }
    const input = customInput(this.#arguments);
    return (
      this.events.of('response.custom_tool_call_input.delta', { ...place, delta: input }) +
      this.events.of('response.custom_tool_call_input.done', { ...place, input })
    );
  }
}
