import { json } from '../emulator/json.ts';
import type { Recorded } from '../emulator/recording-server.ts';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
import { problemsOf, ROUTES, type Route } from './emulator/fields.ts';

export interface Made {
  readonly image: Buffer;
  readonly audio: Buffer;
}

interface Task {
  readonly kind: keyof Made;
  readonly isFiltered: boolean;
  reads: number;
}

const BODY_BYTES_MAX = 10 * 1024 * 1024;
const RESULT = /^\/v2beta\/(audio\/)?results\/([^/?]+)$/;

/**
 * The vendor's server and its queue. It refuses what the vendor would refuse, and has an account of its own: credits that
 * run out, and as many requests as it may still make.
 */
export class StabilityEmulator extends ScriptedServer {
  /** How often a task is at work before it is over. */
  readsUntilDone = 1;
  /** What the account can still pay. */
  credits = 1_000_000;
  requestsLeft = Number.POSITIVE_INFINITY;
  /** Prompts that moderation refuses. */
  forbidden: RegExp | undefined;
  /** How many of the next results are blurred. */
  filtered = 0;
  /** The values of every form, and the types of its files. */
  readonly submissions: Readonly<Record<string, string>>[] = [];
  readonly #apiKey: string;
  readonly #made: Made;
  readonly #tasks = new Map<string, Task>();

  constructor(apiKey: string, made: Made) {
    super((request) => this.#answer(request));
    this.#apiKey = apiKey;
    this.#made = made;
  }

  /** The requests of one kind. */
  sent(method: string, path = /./): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  async #answer(request: Recorded): Promise<Answer> {
    const { method, path, headers } = request;
    if (headers.authorization !== `Bearer ${this.#apiKey}`) {
      return refusal(401, 'unauthorized', 'authorization: is invalid or missing');
    }
    if (this.requestsLeft-- <= 0) return refusal(429, 'rate_limit_exceeded', 'You have exceeded the rate limit');
    if (method === 'GET' && path === '/v1/user/balance') return json(200, { credits: this.credits });
    const [, audio, id] = RESULT.exec(path) ?? [];
    if (method === 'GET' && id !== undefined)
      return this.#read(id, audio === undefined ? 'image' : 'audio', headers.accept);
    const route = method === 'POST' ? ROUTES.get(path.replace('/v2beta/', '')) : undefined;
    return route === undefined ? refusal(404, 'not_found', 'not found') : this.#submit(route, request);
  }

  async #submit(route: Route, { path, headers, bytes }: Recorded): Promise<Answer> {
    if (bytes.length > BODY_BYTES_MAX) return refusal(413, 'payload_too_large', 'The request is larger than 10MiB');
    if (headers.accept !== 'application/json') return refusal(400, 'bad_request', 'accept: is not understood here');
    const form = await formIn(headers['content-type'] ?? '', bytes);
    if (form === undefined) return refusal(400, 'bad_request', 'content-type: must be multipart/form-data');
    const values = written(form);
    this.submissions.push(values);
    const problems = problemsOf(route, form);
    if (problems.length > 0) return refusal(400, 'bad_request', ...problems);
    if (this.credits < route.credits) {
      return refusal(402, 'payment_required', 'You lack sufficient credits to make this request.');
    }
    if (this.forbidden?.test(values.prompt ?? '') === true) {
      return refusal(403, 'content_moderation', 'Your request was flagged by our content moderation system.');
    }
    return this.#make(route, path.startsWith('/v2beta/audio/') ? 'audio' : 'image');
  }

  /** Failed and filtered generations are not charged. */
  #make({ credits, isQueued }: Route, kind: keyof Made): Answer {
    const isFiltered = this.filtered > 0;
    if (isFiltered) this.filtered--;
    else this.credits -= credits;
    if (isQueued === true) {
      const id = String(this.#tasks.size + 1).padStart(64, 'a');
      this.#tasks.set(id, { kind, isFiltered, reads: 0 });
      return json(kind === 'audio' ? 202 : 200, { id });
    }
    return json(200, { [kind]: this.#made[kind].toString('base64'), finish_reason: reasonOf(isFiltered), seed: 7 });
  }

  #read(id: string, kind: keyof Made, accept: string | undefined): Answer {
    const task = this.#tasks.get(id);
    if (task === undefined || task.kind !== kind) return refusal(404, 'not_found', 'id: no such generation');
    if (accept !== `${kind}/*`) return refusal(400, 'bad_request', 'accept: is not understood here');
    task.reads++;
    if (task.reads <= this.readsUntilDone) return json(202, { id, status: 'in-progress' });
    const type = kind === 'image' ? 'image/png' : 'audio/mpeg';
    const headers = { 'content-type': type, 'finish-reason': reasonOf(task.isFiltered), seed: '7' };
    return { status: 200, headers, body: this.#made[kind] };
  }
}

function reasonOf(isFiltered: boolean): string {
  return isFiltered ? 'CONTENT_FILTERED' : 'SUCCESS';
}

async function formIn(type: string, bytes: Buffer): Promise<FormData | undefined> {
  if (!type.startsWith('multipart/form-data;')) return undefined;
  const answer = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
  return answer.formData().catch(() => undefined);
}

function written(form: FormData): Record<string, string> {
  const entries = [...form].map(([name, value]) => [
    name,
    value instanceof File ? `${value.name} ${value.type}` : value,
  ]);
  return Object.fromEntries(entries);
}

export function refusal(status: number, name: string, ...errors: readonly string[]): Answer {
  return json(status, { id: 'marker', name, errors });
}
