import assert from 'node:assert/strict';
import type { FalOptions } from '../../src/vendors/fal/emulator.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import type { Fields } from './documents.ts';
import type { Answer, CallOptions, Gateway, GatewayOptions, NewCaller } from './gateway.ts';
import { type Delivered, OpenQueue } from './open-queue.ts';
import { moneyOf } from './paid-calls.ts';
import { imageModel, Studio } from './studio.ts';

export const EDITS = '/v1/images/edits';
export const VIDEOS = '/v1/videos';
export const MUSIC = '/v1/audio/music';

export type Asking = Omit<CallOptions, 'key'>;
/** The status and the code, as `400 missing_model`. */
export type Told = `${number} ${string}`;

/** A studio with two more upstreams, which take whatever they are sent, and models of every kind. */
export class MediaStudio extends Studio {
  readonly open = new OpenAiEmulator({ isLenient: true });
  readonly openQueue: OpenQueue;
  readonly #models: readonly Fields[];
  readonly #allowed: readonly string[];

  constructor(
    options: { queue?: FalOptions; delivered?: Partial<Delivered>; models?: Fields[]; allow?: string[] } = {},
  ) {
    super({ readsUntilDone: 0, ...options.queue });
    this.openQueue = new OpenQueue(options.delivered);
    this.#models = options.models ?? [];
    this.#allowed = options.allow ?? [];
  }

  override async start(options: GatewayOptions = {}): Promise<void> {
    await Promise.all([this.open.start(), this.openQueue.start()]);
    await super.start(options);
  }

  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all([this.open.stop(), this.openQueue.stop()]);
  }

  override another(options: GatewayOptions = {}): Promise<Gateway> {
    const own = [this.queue.files.url, this.queue.url, this.direct.url, this.open.url, this.openQueue.url];
    const allow = [...own.map((url) => new URL(url).host), ...this.#allowed].join(',');
    return super.another({ ...options, settings: { TOLLGATE_FETCH_ALLOW: allow, ...options.settings } });
  }

  override document(upstreams: Record<string, Fields> = {}, models: readonly Fields[] = []): Fields {
    const document = super.document(upstreams, [...this.#models, ...models]);
    assert.ok(Array.isArray(document.upstreams));
    const more = [
      { id: 'open', vendor: 'openai', base_url: this.open.url, ...upstreams.open },
      {
        id: 'open-queue',
        vendor: 'fal',
        base_url: this.openQueue.url,
        api_key: 'id:secret',
        ...upstreams['open-queue'],
      },
      { id: 'sandbox', vendor: 'sandbox', ...upstreams.sandbox },
    ];
    return { ...document, upstreams: [...document.upstreams, ...more] };
  }

  /** How often each upstream, and the host of its files, has been asked for anything. */
  get seen(): readonly number[] {
    const { queue, direct, open, openQueue } = this;
    return [queue.requests, queue.files.requests, direct.requests, open.requests]
      .map(({ length }) => length)
      .concat(openQueue.calls);
  }

  async sent(caller: NewCaller, path: string, asking: Asking): Promise<Answer> {
    return this.gateway.call('POST', path, { ...asking, key: caller.key });
  }

  /** Makes the job and sees it through. */
  async made(caller: NewCaller, path: string, asking: Asking) {
    const answer = await this.sent(caller, path, asking);
    assert.equal(answer.status, 202, answer.text);
    const job = await this.ended(caller, answer.json.id);
    assert.equal(job.status, 'succeeded', JSON.stringify(job));
    return job;
  }

  /** Each is refused as told, and nothing comes of any: no job, no charge, no call to an upstream. */
  async refuses(caller: NewCaller, path: string, rows: readonly (readonly [Asking, Told])[]): Promise<void> {
    await this.unmoved(caller, async () => {
      for (const [asking, told] of rows) {
        const answer = await this.sent(caller, path, asking);
        assert.equal(toldBy(answer), told, `${describe(asking)}: ${answer.text}`);
      }
    });
  }

  /** What runs leaves no job, no charge and no hold behind, and no upstream hears of it. */
  async unmoved(caller: NewCaller, run: () => Promise<void>): Promise<void> {
    const before = await this.#traces(caller);
    await run();
    assert.deepEqual(await this.#traces(caller), before);
  }

  async #traces(caller: NewCaller) {
    const jobs = await this.gateway.call('GET', '/v1/jobs?limit=100', { key: caller.key });
    return { jobs: jobs.json.data, money: await moneyOf(this.gateway, caller), seen: this.seen };
  }
}

export function toldBy({ status, json }: Answer): string {
  return `${status} ${json?.error?.code}`;
}

function describe({ body, raw }: Asking): string {
  return raw === undefined ? JSON.stringify(body).slice(0, 300) : String(raw).slice(0, 300);
}

/** Takes everything, under the names that callers use. */
export function openImage(id: string, fields: Fields = {}): Fields {
  return imageModel(id, [{ upstream: 'open', model: 'painter' }], fields);
}

export function videoModel(id: string, routes: readonly Fields[], accepts: Fields, fields: Fields = {}): Fields {
  const pricing = { mode: 'per_second', credits: { per_second: 10 } };
  return { id, modality: 'video', owned_by: 'studio', endpoints: ['videos'], pricing, accepts, routes, ...fields };
}

export function musicModel(id: string, routes: readonly Fields[], accepts: Fields = {}, fields: Fields = {}): Fields {
  const pricing = { mode: 'per_request', credits: { base: 50 } };
  return { id, modality: 'audio', owned_by: 'studio', endpoints: ['audio_music'], pricing, accepts, routes, ...fields };
}
