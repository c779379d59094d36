import type { TaskRetrieveResponse } from '@runwayml/sdk/resources';
import { json, jsonIn } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import type { Answer } from '../emulator/scripted-server.ts';
import { TaskServer } from '../emulator/task-server.ts';
import { MODELS } from './emulator/models.ts';
import { oneOf, type Problem, problemsIn } from './emulator/rules.ts';

/** How a task ends: well, cancelled by its owner, or by a failure of this name, or of none. */
export type Ending = 'SUCCEEDED' | 'CANCELLED' | { readonly failureCode: string | undefined };

interface Task {
  readonly id: string;
  readonly route: string;
  readonly count: number;
  readonly ending: Ending;
  reads: number;
}

export interface Results {
  readonly image: Buffer;
  readonly video: Buffer;
  readonly audio: Buffer;
}

const LIMITS = { maxConcurrentGenerations: 5, maxDailyGenerations: 50 };
const TIER_MODELS = Object.fromEntries(
  Object.values(MODELS).flatMap((models) => Object.keys(models).map((name) => [name, LIMITS])),
);
const ORGANIZATION = {
  creditBalance: 100,
  tier: { maxMonthlyCreditSpend: 9000, models: TIER_MODELS },
  usage: { models: {} },
};
const COST = 5;
const VERSION = '2024-11-06';
const CREATED = '2026-01-01T00:00:00.000Z';
const OUTPUT = /^\/outputs\/([^/?]+)\/\d+\?_jwt=s$/;

/**
 * The vendor's server, its tasks and the host of its results in one. It refuses what the vendor would refuse, and has an
 * account of its own: credits that run out, a limit of tasks for a day, and one of tasks at a time, which throttles.
 */
export class RunwayEmulator extends TaskServer {
  /** What the account can still pay. */
  credits = Number.POSITIVE_INFINITY;
  /** How many tasks it may begin today. */
  tasksLeft = Number.POSITIVE_INFINITY;
  /** Tasks wait for others of the account. */
  isThrottled = false;
  /** The next tasks end so, each one of these; then well. */
  readonly endings: Ending[] = [];
  readonly #apiKey: string;
  readonly #results: Results;
  readonly #tasks = new Map<string, Task>();

  constructor(apiKey: string, results: Results) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#results = results;
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    const [, output] = OUTPUT.exec(path) ?? [];
    if (output !== undefined) return this.#download(output, headers.authorization !== undefined);
    if (headers.authorization !== `Bearer ${this.#apiKey}`) return refusal(401, 'The API key is not valid.');
    if (headers['x-runway-version'] !== VERSION) return refusal(400, 'X-Runway-Version is not valid.');
    const [, id] = /^\/v1\/tasks\/([^/?]+)$/.exec(path) ?? [];
    if (id !== undefined) return method === 'DELETE' ? this.#delete(id) : this.#read(id);
    if (method === 'GET' && path === '/v1/organization') return json(200, ORGANIZATION);
    const route = path.replace(/^\/v1\//, '');
    if (!Object.hasOwn(MODELS, route)) return refusal(404, 'Not found');
    return method === 'POST' ? this.#submit(route, request) : refusal(405, 'Method not allowed');
  }

  #submit(route: string, sent: Recorded): Answer {
    const body = jsonIn(sent);
    if (body === undefined) return refusal(400, 'Body is not valid JSON.');
    const problems = problemsOf(route, body);
    if (problems.length > 0)
      return json(400, { error: 'Validation of body failed', issues: problems, docUrl: 'marker' });
    if (this.credits < COST) return refusal(400, 'You do not have enough credits to run this task.');
    if (this.tasksLeft < 1) return refusal(429, 'You have reached the daily limit of tasks for this model.');
    this.credits -= COST;
    this.tasksLeft--;
    const id = `task-${this.#tasks.size + 1}`;
    const count = Number(body.outputCount ?? 1);
    this.#tasks.set(id, { id, route, count, ending: this.endings.shift() ?? 'SUCCEEDED', reads: 0 });
    return json(200, { id, estimatedCost: { credits: COST } });
  }

  #read(id: string): Answer {
    const task = this.#tasks.get(id);
    if (task === undefined) return refusal(404, 'Task not found');
    task.reads++;
    return json(200, this.#stateOf(task) satisfies TaskRetrieveResponse);
  }

  #stateOf({ id, reads, ending, count }: Task): TaskRetrieveResponse {
    const known = { id, createdAt: CREATED };
    const estimatedCost = { credits: COST };
    if (this.isThrottled) return { ...known, status: 'THROTTLED', estimatedCost };
    if (reads <= this.readsUntilDone) {
      return reads === 1
        ? { ...known, status: 'PENDING', estimatedCost }
        : { ...known, status: 'RUNNING', progress: 0.4, estimatedCost };
    }
    if (ending === 'CANCELLED') return { ...known, status: 'CANCELLED', cost: { credits: 0 } };
    if (ending === 'SUCCEEDED') {
      const output = Array.from({ length: count }, (_, at) => `${this.url}/outputs/${id}/${at}?_jwt=s`);
      return { ...known, status: 'SUCCEEDED', output, cost: { credits: COST * count } };
    }
    const { failureCode } = ending;
    const failure = 'marker of a failure';
    const failed = { ...known, status: 'FAILED' as const, failure, cost: { credits: 0 } };
    return failureCode === undefined ? failed : { ...failed, failureCode };
  }

  #delete(id: string): Answer {
    return this.#tasks.delete(id) ? { status: 204, body: '' } : refusal(404, 'Task not found');
  }

  /** A signed link: it needs no key, and the host of files must never see it. */
  #download(id: string, hasKey: boolean): Answer {
    if (hasKey) return { status: 400, body: 'a credential beside a signature' };
    const task = this.#tasks.get(id);
    if (this.areLinksDead || task === undefined) return { status: 403, body: '<Error>AccessDenied</Error>' };
    const kind = task.route.endsWith('_video') ? 'video' : task.route.endsWith('_image') ? 'image' : 'audio';
    return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: this.#results[kind] };
  }
}

function problemsOf(route: string, body: Readonly<Record<string, unknown>>): Problem[] {
  const models = MODELS[route] ?? {};
  const name = typeof body.model === 'string' && Object.hasOwn(models, body.model) ? body.model : '';
  const model = models[name];
  if (model === undefined) return [{ path: ['model'], message: 'Invalid enum value' }];
  return problemsIn(body, { ...model.fields, model: oneOf(name) }, model.required);
}

function refusal(status: number, error: string): Answer {
  return json(status, { error });
}
