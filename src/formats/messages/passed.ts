import { creditsToNumber } from '../../credits.ts';
import type { ErrorEnvelope } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { objectAt, stringAt } from '../../json-read.ts';
import type { FormatFrame } from '../../vendors/index.ts';
import type { FrameWriter, Settled } from '../format.ts';
import type { MessageIds } from './answer.ts';
import { messagesError } from './errors.ts';
import { eventOf, namedEvent } from './events.ts';

/** The answer of an upstream that speaks this format: its own, with our id, the caller's model and what it cost. */
export function passedMessage(body: JsonObject, ids: MessageIds, settled: Settled): JsonObject {
  return { ...body, id: ids.id, model: ids.model, usage: withCredits(objectAt(body, 'usage'), settled) };
}

/** The upstream's own counts are told, also where they were not believed: what was charged stands beside them. */
function withCredits(usage: JsonObject | undefined, { charged }: Settled): JsonObject {
  return { ...usage, credits: creditsToNumber(charged) };
}

/**
 * Events as they came, to the byte. The first is told under our id, and the last but one is kept back until the call is
 * settled, because it tells the usage.
 */
export class PassedWriter implements FrameWriter<FormatFrame> {
  readonly #ids: MessageIds;
  readonly #requestId: string;
  #last: JsonObject | undefined;

  constructor(ids: MessageIds, requestId: string) {
    this.#ids = ids;
    this.#requestId = requestId;
  }

  write({ event, data, body }: FormatFrame): string {
    if (body.type === 'message_delta') {
      const before = this.#last === undefined ? '' : eventOf({ ...this.#last, type: 'message_delta' });
      this.#last = body;
      return before;
    }
    if (body.type === 'message_stop') return '';
    if (body.type !== 'message_start') {
      // Data of several lines would be several data lines.
      return namedEvent(stringAt(body, 'type') ?? event, data.includes('\n') ? JSON.stringify(body) : data);
    }
    const message = { ...objectAt(body, 'message'), ...this.#ids };
    return eventOf({ ...body, type: 'message_start', message });
  }

  end(settled: Settled): string {
    const last = this.#last ?? {};
    const told = { ...last, type: 'message_delta', usage: withCredits(objectAt(last, 'usage'), settled) };
    return eventOf(told) + eventOf({ type: 'message_stop' });
  }

  fail(error: ErrorEnvelope): string {
    return eventOf({ ...messagesError(error, this.#requestId), type: 'error' });
  }
}
