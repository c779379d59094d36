import { unixSeconds } from '../../clock.ts';
import type { ErrorEnvelope } from '../../errors.ts';
import { randomBase62 } from '../../ids.ts';
import type { JsonObject } from '../../json.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import type { ChatChunk } from '../../vendors/index.ts';
import type { ChatFormat, FrameWriter, Settled } from '../format.ts';
import { chatUsage } from './usage.ts';

/** Chat completions: what the vendors speak here, so that little is left to translate. */
export function chatFormat({ model, includeUsage }: ChatRequest, now: Date): ChatFormat {
  const ids = { id: `chatcmpl-${randomBase62(29)}`, created: unixSeconds(now), model };
  return {
    limitField: 'max_tokens',
    whole: (body, settled) => ({ ...body, ...ids, object: 'chat.completion', usage: chatUsage(settled) }),
    writer: () => new ChatWriter(ids, includeUsage),
  };
}

/** Stand in an answer in place of the upstream's, which would tell which upstream gave it. */
interface ChatIds {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

const REPLACED = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);

class ChatWriter implements FrameWriter<ChatChunk> {
  readonly #ids: ChatIds;
  readonly #includeUsage: boolean;
  /** What is the same in every frame is written once. */
  readonly #head: string;
  readonly #tail: string;
  #bodyBefore: JsonObject | undefined;
  #more = '';

  constructor(ids: ChatIds, includeUsage: boolean) {
    const { id, created, model } = ids;
    this.#ids = ids;
    this.#includeUsage = includeUsage;
    const same = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
    this.#head = `data: ${same},"choices":`;
    this.#tail = includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  }

  write({ body, written }: ChatChunk): string {
    if (body === undefined) return '';
    if (body !== this.#bodyBefore) this.#more = moreOf(body);
    this.#bodyBefore = body;
    return this.#head + (written?.choices ?? JSON.stringify(body.choices)) + this.#more + this.#tail;
  }

  /** The caller who asked for usage gets one more frame. */
  end(settled: Settled): string {
    if (!this.#includeUsage) return '';
    const frame = { ...this.#ids, object: 'chat.completion.chunk', choices: [], usage: chatUsage(settled) };
    return `data: ${JSON.stringify(frame)}\n\n`;
  }

  fail(error: ErrorEnvelope): string {
    return `data: ${JSON.stringify(error)}\n\n`;
  }
}

function moreOf(body: JsonObject): string {
  let more = '';
  for (const name in body) if (!REPLACED.has(name)) more += `,${JSON.stringify(name)}:${JSON.stringify(body[name])}`;
  return more;
}
