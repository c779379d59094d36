import type { Bill } from '../billing/index.ts';
import type { CountedTokens, Settled } from '../formats/index.ts';
import { estimateTokens } from '../text/index.ts';
import type { TokenUsage } from '../vendors/index.ts';
import type { TokenOrder } from './token-order.ts';
import { estimatedTokens, type OnExcess, reportedTokens, tokenUnits } from './token-usage.ts';

/** How often a long stream notes what is owed, so that a process that dies in it loses little. */
const NOTE_EVERY_MS = 2_000;

/** Counts what a stream delivers and settles it once. */
export class StreamMeter {
  readonly #bill: Bill;
  readonly #order: TokenOrder;
  readonly #onExcess: OnExcess;
  #usage: TokenUsage | undefined;
  #text = '';
  #outputTokens = 0;
  #notedAtMs = performance.now();
  #settled: Promise<Settled> | undefined;

  /** `onExcess` hears of a count beyond the order, once. */
  constructor(bill: Bill, order: TokenOrder, onExcess: OnExcess) {
    this.#bill = bill;
    this.#order = order;
    this.#onExcess = onExcess;
  }

  /** `text` is what goes to the caller; it counts only as long as the upstream tells no usage. */
  count(text: string, usage: TokenUsage | undefined): void {
    if (usage !== undefined) this.#usage = usage;
    else if (this.#usage === undefined) this.#text += text;
    if (performance.now() - this.#notedAtMs > NOTE_EVERY_MS) this.#note();
  }

  /** Harmless when repeated. */
  settle(): Promise<Settled> {
    this.#settled ??= this.#settle();
    return this.#settled;
  }

  async #settle(): Promise<Settled> {
    const tokens = this.#tokens(this.#onExcess);
    return { tokens, charged: await this.#bill.settle(tokenUnits(tokens)) };
  }

  #note(): void {
    this.#notedAtMs = performance.now();
    // If it is not noted, the next note or the settlement says it all again.
    this.#bill.meter(tokenUnits(this.#tokens(() => undefined))).catch(() => undefined);
  }

  /** The input is owed from the first chunk on; the output as far as it came. */
  #tokens(onExcess: OnExcess): CountedTokens {
    if (this.#usage !== undefined) return reportedTokens(this.#usage, this.#order, onExcess);
    this.#outputTokens += estimateTokens(this.#text);
    this.#text = '';
    return estimatedTokens(this.#order, this.#outputTokens);
  }
}
