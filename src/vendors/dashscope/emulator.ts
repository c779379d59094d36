import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { GENERATION, MODELS, type Model, problemOf } from './emulator/fields.ts';

/** How a task ends: well, by the vendor's word for its state, or by the code of its error. */
type Ending = 'SUCCEEDED' | 'CANCELED' | 'UNKNOWN' | { readonly code: string };
type Files = Readonly<Record<'clip' | 'picture' | 'sound', Buffer>>;

interface Task {
  readonly id: string;
  readonly model: string;
  readonly makes: Model['makes'];
  readonly count: number;
  readonly ending: Ending;
  reads: number;
}

const TASKS = '/api/v1/tasks';
const FILE = /^\/files\/(clip|picture|sound)\?Signature=s$/;
const TYPES = { clip: 'video/mp4', picture: 'image/png', sound: 'audio/wav' } as const;

/**
 * The vendor's server and the host of its results in one. It refuses what the vendor would refuse, and has an account of
 * its own: one that may owe money, and a limit of calls.
 */
export class DashscopeEmulator extends TaskServer {
  isInArrears = false;
  isThrottled = false;
  /** Words of a prompt that moderation refuses. */
  readonly forbidden = 'forbidden words';
  /** The next tasks end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  /** How many pictures of each task are refused by moderation. */
  refusedPictures = 0;
  readonly tasks: Task[] = [];
  readonly #apiKey: string;
  readonly #files: Files;

  constructor(apiKey: string, files: Files) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#files = files;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const [, file] = FILE.exec(path) ?? [];
    if (file !== undefined) return this.#download(file as keyof Files, headers.authorization !== undefined);
    if (headers.authorization !== `Bearer ${this.#apiKey}`) {
      return refusal(401, 'InvalidApiKey', 'Invalid API-key provided.');
    }
    const { pathname, searchParams } = new URL(path, this.origin);
    if (method === 'GET' && pathname === TASKS) return this.#list(searchParams);
    if (method === 'GET' && pathname.startsWith(`${TASKS}/`)) return this.#read(pathname.slice(TASKS.length + 1));
    if (method === 'POST') return this.#make(request);
    return refusal(404, 'NotFound', 'The path was not found.');
  }

  #make({ path, headers, bytes }: Recorded): Answer {
    if (headers['content-type'] !== 'application/json') return refusal(400, 'InvalidParameter', 'Content-Type');
    const body = JSON.parse(bytes.toString());
    const model = MODELS.get(body.model);
    if (model === undefined) return refusal(404, 'ModelNotFound', 'Model not exist.');
    if (model.path !== path) return refusal(400, 'InvalidParameter', 'url error, please check url!');
    const isTask = headers['x-dashscope-async'] === 'enable';
    if (isTask !== (path !== GENERATION)) {
      const word = isTask ? 'asynchronous' : 'synchronous';
      return refusal(403, 'AccessDenied', `current user api does not support ${word} calls.`);
    }
    const problem = problemOf(body, model);
    if (problem !== undefined) return refusal(400, 'InvalidParameter', problem);
    if (this.isInArrears)
      return refusal(400, 'Arrearage', 'Access denied, please make sure your account is in good standing.');
    if (this.isThrottled) return refusal(429, 'Throttling.RateQuota', 'Requests rate limit exceeded.');
    if (bytes.includes(this.forbidden)) {
      return refusal(400, 'DataInspectionFailed', 'Input data may contain inappropriate content.');
    }
    const count = body.parameters?.n ?? 4;
    return isTask ? this.#accept(body.model, model.makes, count) : json(200, this.#made(model.makes, count));
  }

  #accept(model: string, makes: Model['makes'], count: number): Answer {
    const ending = this.endings.shift() ?? 'SUCCEEDED';
    const task = { id: `task-${this.tasks.length + 1}`, model, makes, count, ending, reads: 0 };
    this.tasks.push(task);
    return json(200, { output: { task_id: task.id, task_status: 'PENDING' }, request_id: 'r' });
  }

  /** An id that is not known is no error here. */
  #read(id: string): Answer {
    const task = this.tasks.find((each) => each.id === id);
    if (task === undefined || task.ending === 'UNKNOWN') return status(id, 'UNKNOWN');
    task.reads++;
    if (task.reads <= this.readsUntilDone) return status(id, task.reads > 1 ? 'RUNNING' : 'PENDING');
    if (typeof task.ending === 'object') return status(id, 'FAILED', { ...task.ending, message: 'marker' });
    if (task.ending === 'CANCELED') return status(id, 'CANCELED');
    const { output, usage } = this.#made(task.makes, task.count);
    return status(id, 'SUCCEEDED', output, usage);
  }

  #list(query: URLSearchParams): Answer {
    const [page, size] = ['page_no', 'page_size'].map((name) => Number(query.get(name)));
    if (!(page && page >= 1 && size && size >= 1 && size <= 100)) return refusal(400, 'InvalidParameter', 'page_no');
    const data = this.tasks.slice((page - 1) * size, page * size).map(({ id, model }) => {
      return { task_id: id, model_name: model, status: 'SUCCEEDED' };
    });
    return json(200, { request_id: 'r', data, total: this.tasks.length, page_no: page, page_size: size });
  }

  #made(makes: Model['makes'], count: number) {
    const refused = { code: 'DataInspectionFailed', message: 'marker' };
    const url = (file: keyof Files) => `${this.origin}/files/${file}?Signature=s`;
    const results = Array.from({ length: count }, (_, at) =>
      at < this.refusedPictures ? refused : { url: url('picture') },
    );
    switch (makes) {
      case 'clip':
        return { output: { video_url: url('clip') }, usage: { video_duration: 5, video_count: 1, SR: 720 } };
      case 'pictures':
        return { output: { results, task_metrics: { TOTAL: count } }, usage: { image_count: count } };
      case 'message with pictures': {
        const choice = { finish_reason: 'stop', message: { role: 'assistant', content: [{ image: url('picture') }] } };
        return { output: { choices: results.map(() => choice) }, usage: { image_count: count }, request_id: 'r' };
      }
      case 'speech': {
        const audio = { url: url('sound'), data: '', expires_at: 1, id: 'a' };
        return { output: { finish_reason: 'stop', audio }, usage: { characters: 5 }, request_id: 'r' };
      }
      case 'transcript': {
        const annotations = [{ type: 'audio_info', language: 'en', emotion: 'neutral' }];
        const message = { role: 'assistant', annotations, content: [{ text: 'A toll gate.' }] };
        return { output: { choices: [{ finish_reason: 'stop', message }] }, usage: { seconds: 2 }, request_id: 'r' };
      }
    }
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(name: keyof Files, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDead) return { status: 403, body: '<Error>AccessDenied</Error>' };
    return { status: 200, headers: { 'content-type': TYPES[name] }, body: this.#files[name] };
  }
}

function status(id: string, word: string, output: object = {}, usage?: object): Answer {
  return json(200, { request_id: 'r', output: { task_id: id, task_status: word, ...output }, usage });
}

function refusal(code: number, name: string, message: string): Answer {
  return json(code, { code: name, message, request_id: 'r' });
}
