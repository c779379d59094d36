import { errors, jwtVerify } from 'jose';
import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { formAt, problemIn } from './emulator/fields.ts';

/** How a task ends: well, or with the vendor's words for why it did not. */
export type Ending = 'well' | { readonly words: string };

interface Task {
  readonly id: string;
  /** Where it was submitted. */
  readonly path: string;
  readonly name: string;
  readonly count: number;
  readonly isMarked: boolean;
  readonly ending: Ending;
  reads: number;
}

export interface Keys {
  /** A plain key, or the secret one of a pair. */
  readonly secret: string;
  /** With it, only tokens signed by the secret key are taken. */
  readonly accessKey?: string;
}

const FILE = /^\/files\/(clip|marked|picture)\?token=s$/;
const LIFETIME_SECONDS_MAX = 1800;

/**
 * The vendor's server and the host of its results in one. It refuses what the vendor would refuse, and has an account of
 * its own: packs that are used up, and a limit of tasks at a time.
 */
export class KlingEmulator extends TaskServer {
  isUsedUp = false;
  activeMax = 10;
  /** Words of a prompt that the rules of content refuse. */
  readonly forbidden = 'forbidden words';
  /** The next tasks end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  readonly tasks: Task[] = [];
  readonly #keys: Keys;
  readonly #files: Readonly<Record<'clip' | 'picture', Buffer>>;

  constructor(keys: Keys, files: Readonly<Record<'clip' | 'picture', Buffer>>) {
    super((request) => this.#answer(request));
    this.#keys = keys;
    this.#files = files;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const [, file] = FILE.exec(path) ?? [];
    if (file !== undefined) return this.#download(file, headers.authorization !== undefined);
    const code = await this.#codeOf(headers.authorization);
    if (code !== 0) return refusal(401, code, 'Authentication failed');
    const { pathname, searchParams } = new URL(path, this.origin);
    if (method === 'POST') return this.#submit(pathname, request);
    if (pathname === '/tasks') return this.#tasks(searchParams);
    const isList = searchParams.has('pageNum');
    return isList ? this.#list(pathname, searchParams) : this.#read(pathname);
  }

  /** What is wrong with a credential, or 0. */
  async #codeOf(authorization = ''): Promise<number> {
    const { secret, accessKey } = this.#keys;
    const [, token] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    if (token === undefined) return 1001;
    if (accessKey === undefined) return token === secret ? 0 : 1002;
    try {
      const key = new TextEncoder().encode(secret);
      const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], typ: 'JWT', issuer: accessKey });
      const { exp = Number.POSITIVE_INFINITY, nbf } = payload;
      return exp <= Date.now() / 1000 + LIFETIME_SECONDS_MAX && nbf !== undefined ? 0 : 1002;
    } catch (error) {
      return error instanceof errors.JWTExpired ? 1004 : 1000;
    }
  }

  #submit(path: string, { headers, bytes }: Recorded): Answer {
    if (headers['content-type'] !== 'application/json') return refusal(400, 1200, 'Content-Type');
    const body = JSON.parse(bytes.toString());
    const form = formAt(path, body);
    if (form === undefined) return refusal(404, 1203, 'model is not supported');
    const problem = problemIn(body, form);
    if (problem !== undefined) return refusal(400, 1201, problem);
    // With the status of a throttle, which it is not.
    if (this.isUsedUp) return refusal(429, 1102, 'Account balance not enough');
    if (bytes.includes(this.forbidden)) return refusal(400, 1301, 'Failure to pass the risk control system');
    const active = this.tasks.filter(({ reads }) => reads <= this.readsUntilDone);
    if (active.length >= this.activeMax) return refusal(429, 1303, 'parallel task over resource pack limit');
    const name = body.external_task_id ?? body.options?.external_task_id;
    const id = String(8000 + this.tasks.length);
    const isMarked = (body.options ?? body).watermark_info?.enabled === true;
    const task = { id, path, name, count: body.n ?? 1, isMarked, ending: this.endings.shift() ?? 'well', reads: 0 };
    this.tasks.unshift(task);
    return success(path.startsWith('/v1/') ? this.#view(task) : { id: task.id, status: 'submitted' });
  }

  #read(pathname: string): Answer {
    const [, path, id] = /^(.*)\/([^/]+)$/.exec(pathname) ?? [];
    const task = this.tasks.find((each) => each.id === id && each.path === path);
    if (task === undefined) return refusal(404, 1203, 'task not found');
    task.reads++;
    return success(this.#view(task));
  }

  #list(path: string, query: URLSearchParams): Answer {
    const [page, size] = ['pageNum', 'pageSize'].map((name) => Number(query.get(name)));
    if (!(page && page >= 1 && page <= 1000 && size && size >= 1 && size <= 500)) return refusal(400, 1201, 'page');
    const tasks = this.tasks.filter((task) => task.path === path).slice((page - 1) * size, page * size);
    return success(tasks.map((task) => this.#view(task)));
  }

  /** The second flow: several at once, by the one name or the other. */
  #tasks(query: URLSearchParams): Answer {
    const [ids, names] = ['task_ids', 'external_task_ids'].map((name) => query.get(name)?.split(','));
    if ((ids === undefined) === (names === undefined)) return refusal(400, 1201, 'task_ids or external_task_ids');
    const found = this.tasks.filter(({ path }) => !path.startsWith('/v1/'));
    const wanted = found.filter(({ id, name }) => ids?.includes(id) || names?.includes(name));
    for (const task of wanted) task.reads++;
    return success(wanted.map((task) => this.#secondView(task)));
  }

  #view({ id, path, name, count, isMarked, ending, reads }: Task) {
    const known = { task_id: id, task_info: { external_task_id: name }, created_at: 1, updated_at: 1 };
    if (reads <= this.readsUntilDone) return { ...known, task_status: reads > 1 ? 'processing' : 'submitted' };
    if (ending !== 'well') return { ...known, task_status: 'failed', task_status_msg: ending.words };
    const isPicture = path.includes('images');
    const url = `${this.origin}/files/${isPicture ? 'picture' : 'clip'}?token=s`;
    const images = Array.from({ length: count }, (_, index) => ({ index, url })).reverse();
    const task_result = isPicture
      ? { images }
      : { videos: [{ id: 'v', url, ...this.#mark(isMarked), duration: '5.1' }] };
    return { ...known, task_status: 'succeed', task_result, final_unit_deduction: '2.5' };
  }

  #secondView({ id, name, isMarked, ending, reads }: Task) {
    const known = { id, external_id: name };
    if (reads <= this.readsUntilDone) return { ...known, status: 'processing' };
    if (ending !== 'well') return { ...known, status: 'failed', message: ending.words };
    const url = `${this.origin}/files/clip?token=s`;
    const outputs = [{ type: 'video', url, ...this.#mark(isMarked), duration: '5.1' }];
    return { ...known, status: 'succeeded', outputs, billing: [{ charge_type: 'unit', amount: '1.5' }, { amount: 1 }] };
  }

  #mark(isMarked: boolean) {
    return isMarked ? { watermark_url: `${this.origin}/files/marked?token=s` } : {};
  }

  /** A signed link: it needs no credential, and the host of files must never see one. */
  #download(name: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDead) return { status: 403, body: 'expired' };
    const [type, body] = name === 'picture' ? ['image/png', this.#files.picture] : ['video/mp4', this.#files.clip];
    return { status: 200, headers: { 'content-type': type }, body };
  }
}

function success(data: object): Answer {
  return json(200, { code: 0, message: 'SUCCEED', request_id: 'marker', data });
}

function refusal(status: number, code: number, message: string): Answer {
  return json(status, { code, message, request_id: 'marker' });
}
