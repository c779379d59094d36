import type { JsonObject } from '../../../json.ts';

/** A frame that adds text to one choice and does nothing else. */
export interface PlainFrame {
  readonly index: number;
  /** The frame's `choices`, as they came. */
  readonly choices: string;
  readonly content: string;
  /** All else in the frame, as it was read from one like it. */
  readonly body: JsonObject;
}

/** All of `choices`: one choice, text and nothing that could name the upstream. JSON to the letter. */
const PLAIN =
  /^\[\{"index":(0|[1-9]\d{0,2}),"delta":\{"content":"((?:[ !#-[\]-\uffff]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*)"\},(?:"logprobs":null,)?"finish_reason":null\}\]$/;

const START = '"choices":';
/** What stands around `choices` is known by its text alone if nothing in it nests or is escaped. */
const FLAT_HEAD = /^\{[^{}[\]\\]*$/;
const FLAT_TAIL = /^[^{}[\]\\]*\}$/;

/**
 * Reads plain frames without parsing them. Nearly all frames of a stream are alike but for `choices`; so once one of
 * them was parsed and found good, those that have the same text around plain `choices` are just as good.
 */
export class PlainFrames {
  #body: JsonObject | undefined;
  #head = '';
  #tail = '';

  /** `data` was parsed, and `body` is what a caller may see of it. */
  learn(data: string, body: JsonObject): void {
    const start = data.indexOf(START) + START.length;
    const end = data.lastIndexOf(']') + 1;
    const [head, tail] = [data.slice(0, start), data.slice(end)];
    if (!FLAT_HEAD.test(head) || !FLAT_TAIL.test(tail) || tail.includes('"choices"')) return;
    if (!PLAIN.test(data.slice(start, end))) return;
    this.#body = body;
    this.#head = head;
    this.#tail = tail;
  }

  /** Undefined for a frame that has to be parsed. */
  read(data: string): PlainFrame | undefined {
    const body = this.#body;
    const start = this.#head.length;
    const end = data.length - this.#tail.length;
    // Faster than `startsWith` and `endsWith`.
    if (body === undefined || data.slice(0, start) !== this.#head || data.slice(end) !== this.#tail) return undefined;
    const found = PLAIN.exec(data.slice(start, end));
    if (found === null) return undefined;
    const [choices, index, content = ''] = found;
    return {
      index: Number(index),
      choices,
      content: content.includes('\\') ? JSON.parse(`"${content}"`) : content,
      body,
    };
  }
}
