import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { problemsOf } from './emulator/fields.ts';

interface Generation {
  readonly id: string;
  readonly asset: 'image' | 'video';
  readonly request: Readonly<Record<string, unknown>>;
  /** Why it fails; undefined where it ends well. */
  readonly reason: string | undefined;
  reads: number;
}

export interface Results {
  readonly image: Buffer;
  readonly video: Buffer;
}

const ROOT = '/dream-machine/v1';
const COST = 10;
const ASSET = /^\/assets\/([^/?]+)\.(jpg|mp4)$/;

/**
 * The vendor's server, its generations and the host of its results in one. It refuses what the vendor would refuse, and has
 * an account of its own: credits that run out, and a limit of generations at a time.
 */
export class LumaEmulator extends TaskServer {
  /** What the account can still pay. */
  credits = Number.POSITIVE_INFINITY;
  activeMax = 20;
  /** Prompts that moderation refuses at once. */
  forbidden: RegExp | undefined;
  /** The next generations fail for these reasons, each for one of them; then none. */
  readonly reasons: string[] = [];
  readonly #apiKey: string;
  readonly #results: Results;
  readonly #generations = new Map<string, Generation>();
  #accepted = 0;

  constructor(apiKey: string, results: Results) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#results = results;
  }

  /** With the version, as an upstream of this vendor is configured. */
  override get url(): string {
    return this.origin + ROOT;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, headers } = request;
    const [, asset] = ASSET.exec(request.path) ?? [];
    if (asset !== undefined) return this.#download(asset, headers.authorization !== undefined);
    if (headers.authorization === undefined) return detail(403, 'Not authenticated');
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return detail(401, 'Invalid API key');
    if (!request.path.startsWith(`${ROOT}/`)) return detail(404, 'Not Found');
    const path = request.path.slice(ROOT.length);
    if (method === 'POST') return this.#submit(path, request);
    if (path === '/credits') return json(200, { credit_balance: 1000 });
    if (path === '/ping') return json(200, { message: 'pong' });
    const { pathname, searchParams } = new URL(path, this.origin);
    if (method === 'GET' && pathname === '/generations') return this.#list(searchParams);
    const [, id = ''] = /^\/generations\/([^/]+)$/.exec(pathname) ?? [];
    const generation = this.#generations.get(id);
    if (generation === undefined) return detail(404, id === '' ? 'Not Found' : 'Generation not found');
    if (method === 'GET') return this.#read(generation);
    if (method !== 'DELETE') return detail(405, 'Method Not Allowed');
    this.#generations.delete(id);
    return { status: 204, body: '' };
  }

  #submit(path: string, sent: Recorded): Answer {
    const body = jsonIn(sent);
    if (body === undefined) return detail(400, 'Body is not valid JSON');
    const problems = problemsOf(path, body);
    if (problems === undefined) return detail(404, 'Not Found');
    if (problems.length > 0) return json(422, { detail: problems });
    if (this.credits < COST) return detail(400, 'Insufficient credits');
    if (this.forbidden?.test(String(body.prompt)) === true) {
      return detail(400, 'prompt not allowed because advanced moderation failed');
    }
    const active = [...this.#generations.values()].filter(({ reads }) => reads <= this.readsUntilDone);
    if (active.length >= this.activeMax) return detail(429, 'Too many concurrent generations');
    this.credits -= COST;
    const id = `generation-${++this.#accepted}`;
    const asset = path === '/generations/image' ? 'image' : 'video';
    const generation: Generation = { id, asset, request: body, reason: this.reasons.shift(), reads: 0 };
    this.#generations.set(id, generation);
    return json(201, viewOf(generation, 'queued'));
  }

  #read(generation: Generation): Answer {
    generation.reads++;
    return json(200, this.#viewNow(generation));
  }

  /** The newest first, as many as are asked for. */
  #list(query: URLSearchParams): Answer {
    const [limit, offset] = [Number(query.get('limit') ?? 100), Number(query.get('offset') ?? 0)];
    if (!(limit >= 1 && offset >= 0)) return detail(422, 'Input should be a valid integer');
    const all = [...this.#generations.values()].reverse();
    const generations = all.slice(offset, offset + limit).map((generation) => this.#viewNow(generation));
    return json(200, { generations, count: all.length, limit, offset, has_more: offset + limit < all.length });
  }

  #viewNow(generation: Generation) {
    const { id, reason, asset, reads } = generation;
    if (reads <= this.readsUntilDone) return viewOf(generation, reads === 0 ? 'queued' : 'dreaming');
    if (reason !== undefined) return { ...viewOf(generation, 'failed'), failure_reason: reason };
    const url = `${this.origin}/assets/${id}.${asset === 'image' ? 'jpg' : 'mp4'}`;
    return { ...viewOf(generation, 'completed'), assets: { [asset]: url } };
  }

  /** A public link: it needs no key, and the host of files must never see it. */
  #download(id: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential that nothing asked for' };
    const generation = this.#generations.get(id);
    if (this.areLinksDead || generation === undefined) return { status: 403, body: '<Error>AccessDenied</Error>' };
    return { status: 200, headers: { 'content-type': 'binary/octet-stream' }, body: this.#results[generation.asset] };
  }
}

function viewOf({ id, asset, request }: Generation, state: string) {
  const created_at = '2026-01-01T00:00:00Z';
  const none = { failure_reason: null, assets: null };
  return { id, generation_type: asset, state, created_at, ...none, model: request.model, request };
}

function detail(status: number, words: string): Answer {
  return json(status, { detail: words });
}
