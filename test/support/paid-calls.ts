import assert from 'node:assert/strict';
import { Agent, request } from 'undici';
import type { Fields } from './documents.ts';
import type { CallOptions, Gateway, NewCaller } from './gateway.ts';
import { WAIT_MS_MAX } from './patience.ts';
import { until } from './postgres.ts';

/** A caller who may ask as often as a test needs. */
export async function paidCaller(gateway: Gateway, credits = 1000): Promise<NewCaller> {
  const caller = await gateway.newCaller({ key: { rpm: 100_000 } });
  const granted = await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits });
  assert.equal(granted.status, 200, granted.text);
  return caller;
}

/** A model paid by the token, with one route to each upstream named. */
export function tokenModel(id: string, upstreams: readonly string[], fields: Fields = {}): Fields {
  return {
    id,
    modality: 'chat',
    owned_by: 'studio',
    endpoints: ['chat'],
    max_output_tokens: 1000,
    pricing: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 4 } },
    routes: upstreams.map((upstream) => ({ upstream, model: 'wire-name' })),
    ...fields,
  };
}

export function chatBody(model: string, more: Fields = {}): Fields {
  return { model, messages: [{ role: 'user', content: 'Hi' }], ...more };
}

export interface Money {
  readonly available: number;
  readonly reserved: number;
  readonly spent: number;
}

export async function moneyOf(gateway: Gateway, { key }: NewCaller): Promise<Money> {
  const { available, reserved, spent } = (await gateway.call('GET', '/v1/credits', { key })).json;
  return { available, reserved, spent };
}

/** What has been spent once nothing is held any more: a stream is settled right behind its last byte. */
export async function spentInTheEnd(gateway: Gateway, caller: NewCaller): Promise<number> {
  await until(async () => (await moneyOf(gateway, caller)).reserved === 0);
  return (await moneyOf(gateway, caller)).spent;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  /** Whether the connection broke before the answer was whole. */
  readonly isCut: boolean;
}

/** An answer that is taken piece by piece, and may be left, or break off. */
export class OpenStream implements AsyncDisposable {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly #body: AsyncIterable<Buffer> & { destroy(): void };
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #agent: Agent;
  #text = '';

  private constructor(answer: Awaited<ReturnType<typeof request>>, agent: Agent) {
    this.status = answer.statusCode;
    this.headers = answer.headers;
    this.#body = answer.body;
    this.#pieces = this.#body[Symbol.asyncIterator]();
    this.#agent = agent;
  }

  static async open(gateway: Gateway, path: string, options: CallOptions): Promise<OpenStream> {
    const agent = new Agent();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${options.key}`, ...options.headers };
    const body = JSON.stringify(options.body);
    return new OpenStream(
      await request(gateway.url + path, { method: 'POST', headers, body, dispatcher: agent, bodyTimeout: WAIT_MS_MAX }),
      agent,
    );
  }

  /** Reads on until this has come. Returns all that came so far. */
  async until(words: string): Promise<string> {
    while (!this.#text.includes(words)) {
      const { value, done } = await this.#pieces.next();
      assert.ok(done !== true, `ended after ${this.#text}`);
      this.#text += value.toString('utf8');
    }
    return this.#text;
  }

  /** Reads to the end, whatever it is. */
  async rest(): Promise<StreamedAnswer> {
    const { status, headers } = this;
    try {
      for (;;) {
        const { value, done } = await this.#pieces.next();
        if (done === true) return { status, headers, text: this.#text, isCut: false };
        this.#text += value.toString('utf8');
      }
    } catch {
      return { status, headers, text: this.#text, isCut: true };
    }
  }

  /** The caller goes away. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
export function framesIn(text: string): any[] {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: ') && event !== 'data: [DONE]');
  return events.map((event) => JSON.parse(event.slice('data: '.length)));
}

/** A frame of the common shape, as an upstream sends it. */
export function delta(content: string, finish_reason: string | null = null): Fields {
  return {
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'x',
    choices: [{ index: 0, delta: { content }, finish_reason }],
  };
}

/** Frames, with a wait wherever a promise stands. */
export async function* gated(...steps: readonly (Fields | Promise<unknown>)[]): AsyncIterable<Fields> {
  for (const step of steps) {
    if (step instanceof Promise) await step;
    else yield step;
  }
}

/** The events of a stream whose frames have names. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
export function eventsIn(text: string): any[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('event: '))
    .map((event) => JSON.parse(event.slice(event.indexOf('\ndata: ') + '\ndata: '.length)));
}
