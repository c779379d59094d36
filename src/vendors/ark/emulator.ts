import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { CLIPS, PICTURES, problemOf } from './emulator/fields.ts';

/** How a task ends: well, by the vendor's word for its state, or by the code of its error. */
export type Ending = 'succeeded' | 'cancelled' | 'canceled' | 'expired' | { readonly code: string };

interface Task {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly ending: Ending;
  reads: number;
}

const API = '/api/v3';
const TASKS = `${API}/contents/generations/tasks`;
const MODELS = [
  ...[...CLIPS.keys(), ...PICTURES.keys()].map((id) => ({ id, object: 'model' })),
  { id: 'seededit-3-0-i2i-250628', object: 'model', status: 'Shutdown' },
];
const FILE = /^\/files\/([^/?]+)\?sign=s$/;

/**
 * The vendor's server and the host of its results in one. It refuses what the vendor would refuse, and has an account of
 * its own: one that may owe money, and a limit of tasks at a time.
 */
export class ArkEmulator extends TaskServer {
  isOverdue = false;
  activeMax = 10;
  /** Words of a prompt that moderation refuses. */
  readonly forbidden = 'forbidden words';
  /** The next tasks end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  readonly tasks: Task[] = [];
  readonly #apiKey: string;
  readonly #files: Readonly<Record<'clip' | 'picture', Buffer>>;

  constructor(apiKey: string, files: Readonly<Record<'clip' | 'picture', Buffer>>) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#files = files;
  }

  override get url(): string {
    return this.origin + API;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const [, file] = FILE.exec(path) ?? [];
    if (file !== undefined) return this.#download(file, headers.authorization !== undefined);
    if (headers.authorization !== `Bearer ${this.#apiKey}`) {
      return refusal(401, 'AuthenticationError', 'The API key in the request is missing or invalid.');
    }
    const { pathname, searchParams } = new URL(path, this.origin);
    if (method === 'GET' && pathname === `${API}/models`) return json(200, { object: 'list', data: MODELS });
    if (method === 'GET' && pathname === TASKS) return this.#list(searchParams);
    if (method === 'GET' && pathname.startsWith(`${TASKS}/`)) return this.#read(pathname.slice(TASKS.length + 1));
    if (method === 'POST' && pathname === TASKS) return this.#make(request, CLIPS, (body) => this.#accept(body));
    if (method === 'POST' && pathname === `${API}/images/generations`) {
      return this.#make(request, PICTURES, (body) => this.#draw(body));
    }
    return refusal(404, 'NotFound', 'The requested resource was not found.');
  }

  #make({ headers, bytes }: Recorded, models: typeof CLIPS, make: (body: Task['body']) => Answer): Answer {
    if (headers['content-type'] !== 'application/json') return refusal(400, 'InvalidParameter', 'Content-Type');
    const body = JSON.parse(bytes.toString());
    const model = models.get(body.model);
    if (model === undefined) return refusal(404, 'InvalidEndpointOrModel.NotFound', `${body.model} does not exist.`);
    const [code, words] = problemOf(body, model) ?? [];
    if (code !== undefined) return refusal(400, code, words ?? '');
    if (this.isOverdue) return refusal(403, 'AccountOverdueError', 'The account has an overdue balance.');
    if (bytes.includes(this.forbidden))
      return refusal(400, 'InputTextSensitiveContentDetected', 'The text is sensitive.');
    return make(body);
  }

  #accept(body: Task['body']): Answer {
    const active = this.tasks.filter(({ reads }) => reads <= this.readsUntilDone);
    if (active.length >= this.activeMax) return refusal(429, 'QuotaExceeded', 'Too many tasks are in the queue.');
    const task = { id: `cgt-${this.tasks.length + 1}`, body, ending: this.endings.shift() ?? 'succeeded', reads: 0 };
    this.tasks.unshift(task);
    return json(200, { id: task.id });
  }

  #draw(body: Task['body']): Answer {
    const picture =
      body.response_format === 'b64_json'
        ? { b64_json: this.#files.picture.toString('base64') }
        : { url: `${this.origin}/files/picture?sign=s` };
    const data = Array.from({ length: picturesOf(body) }, () => ({ ...picture, size: '2048x2048' }));
    const tokens = 16_384 * data.length;
    const usage = { generated_images: data.length, output_tokens: tokens, total_tokens: tokens };
    return json(200, { model: body.model, created: 1, data, usage });
  }

  #read(id: string): Answer {
    const task = this.tasks.find((each) => each.id === id);
    if (task === undefined) return refusal(404, 'ResourceNotFound', 'The task was not found.');
    task.reads++;
    return json(200, this.#view(task));
  }

  #list(query: URLSearchParams): Answer {
    const [page, size] = ['page_num', 'page_size'].map((name) => Number(query.get(name)));
    if (!(page && page >= 1 && size && size >= 1 && size <= 500)) return refusal(400, 'InvalidParameter', 'page_num');
    const items = this.tasks.slice((page - 1) * size, page * size).map((task) => this.#view(task));
    return json(200, { items, total: this.tasks.length });
  }

  #view({ id, body, ending, reads }: Task) {
    const { model, duration = 5, resolution, ratio = '16:9', seed = 7 } = body;
    const known = { id, model, created_at: 1, updated_at: 1, duration, resolution, ratio, seed };
    if (reads <= this.readsUntilDone) return { ...known, status: reads > 1 ? 'running' : 'queued', error: null };
    if (typeof ending === 'object') {
      return { ...known, status: 'failed', error: { code: ending.code, message: 'marker Request id: 0217' } };
    }
    if (ending !== 'succeeded') return { ...known, status: ending, error: null };
    const lastFrame = body.return_last_frame === true ? { last_frame_url: `${this.origin}/files/picture?sign=s` } : {};
    const content = { video_url: `${this.origin}/files/clip?sign=s`, ...lastFrame };
    const usage = { completion_tokens: 108_900, total_tokens: 108_900 };
    return { ...known, status: ending, error: null, content, usage, framespersecond: 24 };
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(name: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDead) return { status: 403, body: '<Error>AccessDenied</Error>' };
    const [type, body] = name === 'clip' ? ['video/mp4', this.#files.clip] : ['image/jpeg', this.#files.picture];
    return { status: 200, headers: { 'content-type': type }, body };
  }
}

/** A series has at most as many as the caller allows; this vendor draws them all. */
function picturesOf(body: Task['body']): number {
  if (body.sequential_image_generation !== 'auto') return 1;
  const { max_images = 15 } = (body.sequential_image_generation_options ?? {}) as { max_images?: number };
  return max_images;
}

function refusal(status: number, code: string, message: string): Answer {
  return json(status, { error: { code, message: `${message} Request id: 0217`, param: '', type: 'BadRequest' } });
}
