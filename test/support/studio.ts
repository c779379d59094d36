import assert from 'node:assert/strict';
import { request } from 'undici';
import { FalEmulator, type FalOptions } from '../../src/vendors/fal/emulator.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import type { Fields } from './documents.ts';
import { type Answer, Gateway, type GatewayOptions, type NewCaller } from './gateway.ts';
import { until } from './postgres.ts';

export const KEY = 'key-id:key-secret';
const MOVES_MAX = 20_000;
const TERMINAL = ['succeeded', 'failed', 'queue_expired'];

export const IMAGE_PRICE = 40;
export const SECOND_PRICE = 10;
export const CLIP_PRICE = 50;

/** A gateway with two kinds of upstream for media: one with a queue of its own, one that answers at once. */
export class Studio {
  readonly queue: FalEmulator;
  readonly direct = new OpenAiEmulator();
  #gateway: Gateway | undefined;

  constructor(options: FalOptions = {}) {
    this.queue = new FalEmulator({ apiKey: KEY, ...options });
  }

  get gateway(): Gateway {
    return this.#gateway ?? assert.fail('the studio has not been started');
  }

  async start(options: GatewayOptions = {}): Promise<void> {
    await Promise.all([this.queue.start(), this.direct.start()]);
    this.#gateway = await this.another(options);
    await this.gateway.putConfig(this.document());
  }

  /** One more process of the same deployment, or the same one after a restart. */
  another(options: GatewayOptions = {}): Promise<Gateway> {
    const allow = [this.queue.files.url, this.queue.url, this.direct.url].map((url) => new URL(url).host).join(',');
    return Gateway.start({ ...options, settings: { TOLLGATE_FETCH_ALLOW: allow, ...options.settings } });
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await Promise.all([this.queue.stop(), this.direct.stop()]);
  }

  /** `upstreams` changes fields of `queue` and `direct`; models are added. */
  document(upstreams: Record<string, Fields> = {}, models: readonly Fields[] = []): Fields {
    const queue = { id: 'queue', vendor: 'fal', base_url: this.queue.url, api_key: KEY, ...upstreams.queue };
    const direct = { id: 'direct', vendor: 'openai', base_url: this.direct.url, ...upstreams.direct };
    return { upstreams: [queue, direct], models: [...MODELS, ...models] };
  }

  /** A create call; the answer is the queued job. */
  async create(caller: NewCaller, path: string, body: Fields, headers: Record<string, string> = {}): Promise<Job> {
    const answer = await this.gateway.call('POST', path, { key: caller.key, body, headers });
    assert.equal(answer.status, 202, answer.text);
    return answer.json;
  }

  async read(caller: NewCaller, id: string): Promise<Job> {
    const answer = await this.gateway.call('GET', `/v1/jobs/${id}`, { key: caller.key });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  /** The task at the queue of the last job that was made, once more than `known` have been accepted. */
  async nextTask(known: number): Promise<FalEmulator['tasks'][number]> {
    await until(() => this.queue.tasks.length > known);
    return this.queue.tasks.at(-1) ?? assert.fail('no task');
  }

  /** Lets the clock run until it is over: slower than a busy machine works, unless a move of more seconds is asked for. */
  async whileTimePasses<Result>(work: Promise<Result>, seconds = 0.05): Promise<Result> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    await until(() => {
      this.gateway.clock.advance(seconds);
      return isOver;
    });
    return work;
  }

  /** Lets time pass a little at a time until the job has ended. */
  async ended(caller: NewCaller, id: string, seconds = 0.1): Promise<Job> {
    for (let move = 0; move < MOVES_MAX; move++) {
      const job = await this.read(caller, id);
      if (TERMINAL.includes(job.status)) return job;
      this.gateway.clock.advance(seconds);
    }
    throw new Error(`job ${id} does not end`);
  }

  /** Waits for a state without moving the clock. */
  async inState(caller: NewCaller, id: string, status: string): Promise<Job> {
    await until(async () => (await this.read(caller, id)).status === status);
    return this.read(caller, id);
  }

  async assets(caller: NewCaller, id: string): Promise<Answer['json'][]> {
    const answer = await this.gateway.call('GET', `/v1/jobs/${id}/assets`, { key: caller.key });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.items;
  }

  /** What a link gives without a credential. */
  async fetched(url: string, headers: Record<string, string> = {}) {
    const { pathname, search } = new URL(url);
    const { statusCode, headers: got, body } = await request(this.gateway.url + pathname + search, { headers });
    return { status: statusCode, headers: got, bytes: Buffer.from(await body.arrayBuffer()) };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Job = any;

const MODELS: readonly Fields[] = [
  imageModel('studio/queue', [{ upstream: 'queue', model: 'fal-ai/flux/dev' }]),
  imageModel('studio/direct', [{ upstream: 'direct', model: 'gpt-image-2' }]),
  imageModel('studio/both', [
    { upstream: 'queue', model: 'fal-ai/flux/dev' },
    { upstream: 'direct', model: 'gpt-image-2' },
  ]),
];

export function imageModel(id: string, routes: readonly Fields[], fields: Fields = {}): Fields {
  return {
    id,
    modality: 'image',
    owned_by: 'studio',
    endpoints: ['images', 'image_edits'],
    pricing: { mode: 'per_image', credits: { base: IMAGE_PRICE } },
    accepts: {
      sizes: ['1024x1024'],
      resolutions: ['1k', '2k'],
      aspect_ratios: ['1:1', '16:9'],
      n_max: 10,
      slots: ['reference_images', 'mask'],
    },
    routes,
    ...fields,
  };
}

export const IMAGES = '/v1/images/generations';
