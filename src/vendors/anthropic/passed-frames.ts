import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { FormatFrame } from '../format-work.ts';
import { countTokens, frameOf, NO_TOKENS, toUsage } from '../formats/messages/index.ts';
import type { EventReader } from '../kit/chunks.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import type { SseEvent } from '../kit/sse.ts';
import type { TokenUsage } from '../vendor.ts';

/** Events that are passed on as they came; a copy of each is read for usage, faults and the end. */
export class PassedReader implements EventReader<FormatFrame> {
  isDone = false;
  #isStarted = false;
  #isFinished = false;
  #tokens = NO_TOKENS;

  read(event: SseEvent): FormatFrame | undefined {
    if (event.data === '') return undefined;
    const body = frameOf(event);
    const type = stringAt(body, 'type') ?? '';
    // What comes before the message says nothing of it, and would end failover.
    if (!this.#isStarted && type !== 'message_start') return undefined;
    this.#isStarted = true;
    this.isDone = type === 'message_stop';
    return { event: event.event, data: event.data, body, added: addedBy(body, type), usage: this.#usageIn(body, type) };
  }

  end(): void {
    if (!this.#isStarted || (this.isDone && this.#isFinished)) return;
    throw new UpstreamError('server', 'the stream ended in the middle of its message');
  }

  /** That of the start is kept and not told: the output in it is that of the start, and a stream that is left is charged by it. */
  #usageIn(body: JsonObject, type: string): TokenUsage | undefined {
    if (type === 'message_start') this.#count(objectAt(objectAt(body, 'message'), 'usage'));
    if (type !== 'message_delta') return undefined;
    if (stringAt(objectAt(body, 'delta'), 'stop_reason') !== undefined) this.#isFinished = true;
    return this.#count(objectAt(body, 'usage')) ? toUsage(this.#tokens) : undefined;
  }

  #count(usage: JsonObject | undefined): boolean {
    if (usage !== undefined) this.#tokens = countTokens(usage, this.#tokens);
    return usage !== undefined;
  }
}

const ADDED = ['text', 'thinking', 'partial_json'];

function addedBy(body: JsonObject, type: string): string {
  if (type !== 'content_block_delta') return '';
  const delta = objectAt(body, 'delta');
  for (const name of ADDED) {
    const text = stringAt(delta, name);
    if (text !== undefined) return text;
  }
  return '';
}
