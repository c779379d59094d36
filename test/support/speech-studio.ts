import assert from 'node:assert/strict';
import { Agent, request } from 'undici';
import { ElevenLabsEmulator } from '../../src/vendors/elevenlabs/emulator.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import type { Fields } from './documents.ts';
import { type Answer, type CallOptions, Gateway, type GatewayOptions, type NewCaller } from './gateway.ts';
import { toldBy } from './media-studio.ts';
import { moneyOf } from './paid-calls.ts';

export const SPEECH = '/v1/audio/speech';
export const MARKER = 'upstream-marker-of-speech';

/** Credits for a thousand characters, a second, a clip. */
export const PRICE = { characters: 10, second: 8, clip: 5 };
const PRICES = {
  characters: { mode: 'per_k_char', credits: { base: PRICE.characters } },
  seconds: { mode: 'per_second', credits: { per_second: PRICE.second } },
  clips: { mode: 'per_request', credits: { base: PRICE.clip } },
} as const;

/** A gateway whose speech comes from two servers, the second asked when the first fails, at each kind of price. */
export class SpeechStudio {
  readonly first = new OpenAiEmulator({ isLenient: true, marker: MARKER });
  readonly second = new OpenAiEmulator({ isLenient: true, marker: MARKER });
  /** Makes voices from descriptions. */
  readonly designer = new ElevenLabsEmulator({ apiKey: 'xi-key', marker: MARKER });
  #gateway: Gateway | undefined;

  get gateway(): Gateway {
    return this.#gateway ?? assert.fail('the studio has not been started');
  }

  async start(options: GatewayOptions = {}, models: readonly Fields[] = []): Promise<void> {
    await Promise.all([this.first.start(), this.second.start(), this.designer.start()]);
    this.#gateway = await Gateway.start(options);
    await this.gateway.putConfig(this.document(models));
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await Promise.all([this.first.stop(), this.second.stop(), this.designer.stop()]);
  }

  document(models: readonly Fields[] = []): Fields {
    return {
      upstreams: [
        { id: 'first', vendor: 'openai', base_url: this.first.url, priority: 2 },
        { id: 'second', vendor: 'openai', base_url: this.second.url, priority: 1 },
        { id: 'designer', vendor: 'elevenlabs', base_url: this.designer.url, api_key: 'xi-key' },
      ],
      models: [
        voiceModel('voice/characters', { pricing: PRICES.characters }),
        voiceModel('voice/seconds', { pricing: PRICES.seconds }),
        voiceModel('voice/clips', { pricing: PRICES.clips }),
        ...models,
      ],
    };
  }

  /** Forgets what was asked, and lets every upstream be asked again. */
  async rest(): Promise<void> {
    await this.gateway.assertBooksBalance();
    for (const { requests, speeches } of [this.first, this.second]) {
      requests.length = 0;
      speeches.length = 0;
    }
    this.gateway.clock.advance(3600);
  }

  speak(caller: NewCaller, more: Fields = {}, options: CallOptions = {}): Promise<Answer> {
    return this.gateway.call('POST', SPEECH, { key: caller.key, body: speechBody(more), ...options });
  }

  /** What the upstream was sent for a clip that it made. */
  async forwarded(caller: NewCaller, more: Fields = {}): Promise<Fields> {
    const answer = await this.speak(caller, more);
    assert.equal(answer.status, 200, answer.text);
    return this.first.speeches.at(-1) ?? assert.fail('nothing was spoken');
  }

  /** Each is refused as told; nothing is charged or held, and no upstream hears of it. */
  async refuses(caller: NewCaller, told: string, ...rows: readonly Fields[]): Promise<void> {
    const before = [await moneyOf(this.gateway, caller), this.asked];
    for (const row of rows) {
      const isCall = 'raw' in row;
      const answer = await (isCall ? this.speak(caller, {}, { key: caller.key, ...row }) : this.speak(caller, row));
      assert.equal(toldBy(answer), told, `${JSON.stringify(row).slice(0, 200)}: ${answer.text}`);
    }
    assert.deepEqual([await moneyOf(this.gateway, caller), this.asked], before);
  }

  get asked(): number {
    return [this.first, this.second, this.designer].reduce((sum, { requests }) => sum + requests.length, 0);
  }
}

export function speechBody(more: Fields = {}): Fields {
  return { model: 'voice/characters', input: 'Good day.', ...more };
}

export function voiceModel(id: string, fields: Fields = {}): Fields {
  return {
    id,
    modality: 'audio',
    owned_by: 'studio',
    endpoints: ['audio_speech'],
    pricing: PRICES.characters,
    routes: ['first', 'second'].map((upstream) => ({ upstream, model: 'speaker' })),
    ...fields,
  };
}

export interface Heard {
  readonly bytes: Buffer;
  /** Whether the connection broke before the answer was whole. */
  readonly isCut: boolean;
  readonly trailers: Record<string, unknown>;
}

/** Sound that is taken piece by piece, and may be left, or break off. */
export class OpenSound implements AsyncDisposable {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly #answer: Awaited<ReturnType<typeof request>>;
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #agent: Agent;
  #bytes: Buffer = Buffer.alloc(0);

  private constructor(answer: Awaited<ReturnType<typeof request>>, agent: Agent) {
    this.status = answer.statusCode;
    this.headers = answer.headers;
    this.#answer = answer;
    this.#pieces = answer.body[Symbol.asyncIterator]();
    this.#agent = agent;
  }

  static async open({ url }: Gateway, { key }: NewCaller, more: Fields = {}): Promise<OpenSound> {
    const agent = new Agent();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const body = JSON.stringify(speechBody(more));
    return new OpenSound(await request(url + SPEECH, { method: 'POST', headers, body, dispatcher: agent }), agent);
  }

  /** Reads on until so many bytes have come. Returns all of them. */
  async until(bytes: number): Promise<Buffer> {
    while (this.#bytes.length < bytes) {
      const { value, done } = await this.#pieces.next();
      assert.ok(done !== true, `ended after ${this.#bytes.length} bytes`);
      this.#bytes = Buffer.concat([this.#bytes, value]);
    }
    return this.#bytes;
  }

  /** Reads to the end, whatever it is. */
  async rest(): Promise<Heard> {
    const heard = (isCut: boolean) => ({ bytes: this.#bytes, isCut, trailers: this.#answer.trailers });
    try {
      for (;;) {
        const { value, done } = await this.#pieces.next();
        if (done === true) return heard(false);
        this.#bytes = Buffer.concat([this.#bytes, value]);
      }
    } catch {
      return heard(true);
    }
  }

  /** The caller goes away. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}

/** The whole of it, and what stands around it. */
export async function heard(gateway: Gateway, caller: NewCaller, more: Fields = {}) {
  await using sound = await OpenSound.open(gateway, caller, more);
  return { status: sound.status, headers: sound.headers, ...(await sound.rest()) };
}

/** Pieces, with a wait wherever a promise stands. */
export async function* piecewise(...steps: readonly (Buffer | Promise<unknown>)[]): AsyncIterable<Buffer> {
  for (const step of steps) {
    if (step instanceof Promise) await step;
    else yield step;
  }
}
