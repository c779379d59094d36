// Callers that ask without a pause, each for one kind of work, over connections that they keep.
import { setTimeout as pass } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { formOf, valuesOf } from '../support/asked-forms.ts';
import { CLIP } from '../support/booth.ts';
import { type PRICES, TRANSCRIPT } from './upstreams.ts';

type Work = keyof typeof PRICES;

const CALLERS: Readonly<Record<Work, number>> = { chat: 4, stream: 4, image: 2, transcript: 2 };
const THINK_MS = 20;
const LOOK_EVERY_MS = 100;
const JOB_MS_MAX = 120_000;
const STREAM_FRAMES = 20;
const FAILURES_SHOWN_MAX = 20;

export interface Outcome {
  /** HTTP requests in all. */
  readonly requests: number;
  /** Pieces of work that came to their end, by kind. */
  readonly done: Readonly<Record<Work, number>>;
  readonly failures: readonly string[];
}

/** Load that goes on until it is stopped. A request that fails in any way is a failure: none is repeated. */
export class Load {
  readonly #pool: Pool;
  readonly #key: string;
  readonly #callers: readonly Promise<void>[];
  readonly #done: Record<Work, number> = { chat: 0, stream: 0, image: 0, transcript: 0 };
  readonly #failures: string[] = [];
  #requests = 0;
  #isStopping = false;

  constructor(url: string, key: string) {
    this.#key = key;
    const works = Object.entries(CALLERS).flatMap(([work, count]) => Array<Work>(count).fill(work as Work));
    this.#pool = new Pool(url, { connections: works.length });
    this.#callers = works.map((work) => this.#call(work));
  }

  /** Of work so far. */
  get count(): number {
    return Object.values(this.#done).reduce((sum, count) => sum + count, 0);
  }

  /** Every piece of work that was begun is brought to its end. */
  async stop(): Promise<Outcome> {
    this.#isStopping = true;
    await Promise.all(this.#callers);
    await this.#pool.close();
    return { requests: this.#requests, done: this.#done, failures: this.#failures.slice(0, FAILURES_SHOWN_MAX) };
  }

  async #call(work: Work): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#do(work);
        this.#done[work] += 1;
      } catch (error) {
        const { message, code = '' } = error as Error & { code?: string };
        this.#failures.push(`${work} at ${new Date().toISOString()}: ${message} ${code}`);
      }
      await pass(THINK_MS);
    }
  }

  async #do(work: Work): Promise<void> {
    switch (work) {
      case 'chat':
        return this.#chat();
      case 'stream':
        return this.#stream();
      case 'image':
        return this.#image();
      case 'transcript':
        return this.#transcript();
    }
  }

  async #chat(): Promise<void> {
    const answer = JSON.parse(await this.#post('/v1/chat/completions', chatBody(false)));
    if (answer.choices[0].message.content !== 'word') throw new Error(`answered ${JSON.stringify(answer)}`);
  }

  async #stream(): Promise<void> {
    const frames = (await this.#post('/v1/chat/completions', chatBody(true))).split('\n\n');
    const words = frames.filter((frame) => frame.includes('word '));
    if (words.length !== STREAM_FRAMES || frames.at(-2) !== 'data: [DONE]') {
      throw new Error(`a stream of ${words.length} frames ended with ${frames.at(-2)}`);
    }
  }

  async #image(): Promise<void> {
    const body = JSON.stringify({ model: 'rolling/image', prompt: 'a gate' });
    const { id } = JSON.parse(await this.#post('/v1/images/generations', body, 202));
    for (const givenUpMs = performance.now() + JOB_MS_MAX; ; ) {
      const { status, error } = JSON.parse(await this.#request('GET', `/v1/jobs/${id}`));
      if (status === 'succeeded') break;
      if (!['queued', 'running'].includes(status)) throw new Error(`${id} ended ${status}: ${JSON.stringify(error)}`);
      const isOver = performance.now() > givenUpMs || (this.#isStopping && this.#failures.length > 0);
      if (isOver) throw new Error(`${id} is ${status} and was waited for too long`);
      await pass(LOOK_EVERY_MS);
    }
    const { items } = JSON.parse(await this.#request('GET', `/v1/jobs/${id}/assets`));
    const { pathname, search } = new URL(items[0].url);
    await this.#request('GET', pathname + search);
  }

  async #transcript(): Promise<void> {
    const { raw, headers } = FORM;
    const answer = await this.#request('POST', '/v1/audio/transcriptions', { body: raw, headers });
    if (JSON.parse(answer).text !== TRANSCRIPT) throw new Error(`answered ${answer}`);
  }

  #post(path: string, body: string, expected = 200): Promise<string> {
    return this.#request('POST', path, { body, headers: { 'content-type': 'application/json' }, expected });
  }

  async #request(method: Dispatcher.HttpMethod, path: string, options: RequestOptions = {}): Promise<string> {
    this.#requests += 1;
    const headers = { ...options.headers, authorization: `Bearer ${this.#key}` };
    const { statusCode, body } = await this.#pool.request({ method, path, headers, body: options.body ?? null });
    const answer = await body.text();
    if (statusCode !== (options.expected ?? 200)) throw new Error(`${method} ${path} answered ${statusCode} ${answer}`);
    return answer;
  }
}

interface RequestOptions {
  readonly body?: string | Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly expected?: number;
}

const FORM = formOf([
  ...valuesOf({ model: 'rolling/ear' }),
  { name: 'file', bytes: CLIP, fileName: 'a.wav', type: 'audio/wav' },
]);

function chatBody(stream: boolean): string {
  return JSON.stringify({ model: 'rolling/chat', messages: [{ role: 'user', content: 'Speak.' }], stream });
}
