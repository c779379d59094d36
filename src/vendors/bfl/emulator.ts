import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { problemsOf } from './emulator/fields.ts';

export type Ending = 'Ready' | 'Request Moderated' | 'Content Moderated' | 'Error' | 'Failed' | 'Task not found';

interface Task {
  readonly id: string;
  readonly ending: Ending;
  reads: number;
}

const COST = 4;
const SAMPLE = /^\/samples\/([^/?]+)\?signature=s$/;

/**
 * The vendor's server, its queue and the host of its results in one. It refuses what the vendor would refuse, and has an
 * account of its own: credits that run out, and a limit of tasks at a time.
 */
export class BflEmulator extends TaskServer {
  /** What the account can still pay. */
  credits = Number.POSITIVE_INFINITY;
  activeMax = 24;
  /** The next tasks end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  /** Where tasks are to be polled; here where undefined, and nowhere where null. */
  pollingUrl: string | null | undefined;
  /** The host of results; this server where undefined. */
  resultsAt: string | undefined;
  readonly #apiKey: string;
  readonly #picture: Buffer;
  readonly #tasks = new Map<string, Task>();

  constructor(apiKey: string, picture: Buffer) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#picture = picture;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const [, sample] = SAMPLE.exec(path) ?? [];
    if (sample !== undefined) return this.#download(sample, headers['x-key'] !== undefined);
    if (headers['x-key'] === undefined) return detail(403, 'Not authenticated');
    if (headers['x-key'] !== this.#apiKey) return detail(401, 'Invalid API key');
    const { pathname, searchParams } = new URL(path, this.url);
    if (method === 'GET' && pathname === '/v1/get_result') return this.#read(searchParams.get('id'));
    return method === 'POST' ? this.#submit(pathname.replace(/^\/v1\//, ''), request) : detail(404, 'Not Found');
  }

  #submit(model: string, { headers, bytes }: Recorded): Answer {
    const problems = problemsOf(model, headers['content-type'], bytes);
    if (problems === undefined) return detail(404, 'Not Found');
    if (problems.length > 0) return json(422, { detail: problems });
    if (this.credits < COST) return detail(402, 'Insufficient credits. Add credits to continue.');
    const active = this.#tasks.values().filter(({ reads }) => reads <= this.readsUntilDone);
    if ([...active].length >= this.activeMax) {
      return json(429, { error: 'rate_limited', message: 'Too many active tasks', retry_after: 7 });
    }
    this.credits -= COST;
    const id = `task-${this.#tasks.size + 1}`;
    this.#tasks.set(id, { id, ending: this.endings.shift() ?? 'Ready', reads: 0 });
    const polling_url = this.pollingUrl === undefined ? `${this.url}/v1/get_result?id=${id}` : this.pollingUrl;
    return json(200, { id, ...(polling_url !== null && { polling_url }), cost: COST, input_mp: 0, output_mp: 1 });
  }

  #read(id: string | null): Answer {
    if (id === null) return json(422, { detail: [{ loc: ['query', 'id'], msg: 'Field required', type: 'missing' }] });
    const task = this.#tasks.get(id);
    if (task === undefined) return json(404, { id, status: 'Task not found', result: null });
    task.reads++;
    if (task.reads <= this.readsUntilDone) return json(200, { id, status: 'Pending', result: null, progress: 0.4 });
    if (task.ending !== 'Ready')
      return json(200, { id, status: task.ending, result: null, details: { why: 'marker' } });
    const result = {
      sample: `${this.resultsAt ?? this.url}/samples/${id}?signature=s`,
      prompt: 'marker',
      seed: 7,
      duration: 2.5,
    };
    return json(200, { id, status: 'Ready', result, progress: null });
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(id: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    if (this.areLinksDead || !this.#tasks.has(id)) return { status: 403, body: '<Error>AuthenticationFailed</Error>' };
    return { status: 200, headers: { 'content-type': 'image/jpeg' }, body: this.#picture };
  }
}

function detail(status: number, words: string): Answer {
  return json(status, { detail: words });
}
