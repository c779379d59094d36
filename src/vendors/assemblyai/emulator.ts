import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonIn } from '../emulator/json.ts';
import { LocalServer } from '../emulator/local-server.ts';
import { type IncomingCall, type Refusal, refusalOfKey, refusalOfTask, refusalOfUpload } from './emulator/checks.ts';
import { AssemblyAiTask, type Hearing } from './emulator/task.ts';

export interface AssemblyAiOptions {
  readonly apiKey?: string;
  /** Stands in every header, document and refusal, but not in what is heard. */
  readonly marker?: string;
  /** After so many readings a task is completed by itself. Without it, it waits for `complete` or `fail`. */
  readonly readsUntilDone?: number;
  /** What is heard unless a script says otherwise. */
  readonly hears?: Hearing;
  /** What a request gets for which nothing was scripted. */
  readonly scriptOf?: (recorded: Recorded) => Script | undefined;
}

export type Step = 'upload' | 'create' | 'list' | 'read' | 'sentences';

/** What the next request of a step gets. A request that the vendor would refuse is refused whatever the script says. */
export type Script =
  /** As usual, when this resolves. It is called when the request is there. */
  | { readonly kind: 'answer'; readonly after?: () => Promise<void> }
  /** Refused, with nothing done. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly error?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** `reset`: nothing is done. The others: it is done, and no answer says so. */
  | { readonly kind: 'fault'; readonly fault: 'reset' | 'reset after accept' | 'garbage' | 'silence' }
  /** It is done, and answered with this. */
  | { readonly kind: 'raw'; readonly status?: number; readonly contentType?: string; readonly body: string };

export interface Recorded extends IncomingCall {
  /** Undefined: at no place that the vendor knows. */
  readonly step: Step | undefined;
}

const ERRORS = {
  lost: { status: 400, error: 'Transcript lookup error, transcript id not found' },
  nowhere: { status: 404, error: 'Not found' },
  unready: {
    status: 400,
    error: 'This transcript has a status of processing. Sentences are only available for completed',
  },
} as const satisfies Record<string, Refusal>;

type Done = { readonly body: object } | { readonly refusal: Refusal };

/**
 * The upload and transcript routes of the vendor, as strict as it is. Its tasks live as long as it does, whatever becomes
 * of those who asked for them.
 */
export class AssemblyAiEmulator extends LocalServer {
  /** Every request, in the order of their coming. */
  readonly requests: Recorded[] = [];
  /** Every task that was accepted, and so would be billed. */
  readonly tasks: AssemblyAiTask[] = [];
  /** The recordings, by their address. */
  readonly uploads = new Map<string, Buffer>();
  readonly #scripts: Record<Step, Script[]> = { upload: [], create: [], list: [], read: [], sentences: [] };
  readonly #lost = new Set<AssemblyAiTask>();
  readonly #reads = new Map<AssemblyAiTask, number>();
  readonly #options: Required<AssemblyAiOptions>;

  constructor(options: AssemblyAiOptions = {}) {
    super();
    const usual = { apiKey: 'key', marker: 'upstream-marker', hears: {}, scriptOf: () => undefined };
    this.#options = { ...usual, readsUntilDone: Number.POSITIVE_INFINITY, ...options };
  }

  /** One for each request of this step to come; when they are used up, the vendor does what it should. */
  script(step: Step, ...scripts: readonly Script[]): void {
    this.#scripts[step].push(...scripts);
  }

  begin(id: string): void {
    this.#task(id).begin();
  }

  complete(id: string, hearing: Hearing = this.#options.hears): void {
    this.#task(id).complete(hearing);
  }

  fail(id: string, error = 'Server error, developers have been alerted'): void {
    this.#task(id).fail(error);
  }

  /** As if it had been deleted; it was accepted all the same. */
  lose(id: string): void {
    this.#lost.add(this.#task(id));
  }

  /** How often this step was asked for. */
  count(step: Step): number {
    return this.requests.filter((request) => request.step === step).length;
  }

  #task(id: string): AssemblyAiTask {
    const task = this.tasks.find((each) => each.id === id);
    if (task === undefined) throw new Error(`there is no task ${id}`);
    return task;
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const { step, id = '' } = stepOf(method, path) ?? {};
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const recorded = { step, method, path, headers, bytes: Buffer.concat(chunks) };
    this.requests.push(recorded);
    const unknown = refusalOfKey(recorded, this.#options.apiKey);
    if (step === undefined || unknown !== undefined) return this.#refuse(response, unknown ?? ERRORS.nowhere);
    const refusal = this.#refusalOf(step, recorded);
    if (refusal !== undefined) return this.#refuse(response, refusal);
    const script = this.#scripts[step].shift() ?? this.#options.scriptOf(recorded) ?? { kind: 'answer' };
    if (script.kind === 'status') {
      return this.#refuse(response, { error: 'Server error', ...script }, script.headers);
    }
    if (script.kind === 'fault' && script.fault === 'reset') {
      response.socket?.resetAndDestroy();
      return;
    }
    if (script.kind === 'answer') await script.after?.();
    const done = this.#do(step, id, recorded);
    if (script.kind === 'raw') return sendRaw(response, script);
    if (script.kind === 'fault') return this.#break(response, script.fault);
    if ('refusal' in done) this.#refuse(response, done.refusal);
    else this.#send(response, 200, done.body);
  }

  #refusalOf(step: Step, recorded: IncomingCall): Refusal | undefined {
    if (step === 'upload') return refusalOfUpload(recorded);
    return step === 'create' ? refusalOfTask(jsonIn(recorded), new Set(this.uploads.keys())) : undefined;
  }

  /** What the vendor does: keeps a recording, accepts a task, tells of it. */
  #do(step: Step, id: string, recorded: IncomingCall): Done {
    switch (step) {
      case 'upload': {
        const url = `https://cdn.assemblyai.com/upload/${randomUUID()}`;
        this.uploads.set(url, recorded.bytes);
        return { body: { upload_url: url } };
      }
      case 'create': {
        const body = jsonIn(recorded) ?? {};
        const task = new AssemblyAiTask(body, this.uploads.get(String(body.audio_url)));
        this.tasks.push(task);
        return { body: task.document(this.#options.marker) };
      }
      case 'list': {
        const limit = Number(new URL(recorded.path, 'http://vendor').searchParams.get('limit') ?? 10);
        const transcripts = this.tasks.slice(-limit).map(({ id: each, status }) => ({ id: each, status }));
        return { body: { page_details: { limit, result_count: transcripts.length }, transcripts } };
      }
      case 'read':
      case 'sentences': {
        const task = this.tasks.find((each) => each.id === id);
        if (task === undefined || this.#lost.has(task)) return { refusal: ERRORS.lost };
        if (step === 'read') return { body: this.#read(task).document(this.#options.marker) };
        return task.status === 'completed' ? { body: task.sentences() } : { refusal: ERRORS.unready };
      }
    }
  }

  #read(task: AssemblyAiTask): AssemblyAiTask {
    const reads = this.#reads.get(task) ?? 0;
    this.#reads.set(task, reads + 1);
    if (task.status === 'queued' && reads > 0) task.begin();
    const isOpen = task.status === 'queued' || task.status === 'processing';
    if (isOpen && reads >= this.#options.readsUntilDone) task.complete(this.#options.hears);
    return task;
  }

  #refuse(response: ServerResponse, { status, error }: Refusal, headers: Readonly<Record<string, string>> = {}): void {
    this.#send(response, status, { error: `${error} (${this.#options.marker})` }, headers);
  }

  #send(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
    const own = { 'content-type': 'application/json', 'x-served-from': this.#options.marker };
    response.writeHead(status, { ...own, ...headers });
    response.end(JSON.stringify(body));
  }

  #break(response: ServerResponse, fault: 'reset' | 'reset after accept' | 'garbage' | 'silence'): void {
    if (fault === 'silence') return;
    if (fault === 'garbage') response.socket?.end(`${this.#options.marker} is not HTTP\r\n\r\n`);
    else response.socket?.resetAndDestroy();
  }
}

function stepOf(method: string, path: string): { readonly step: Step; readonly id?: string } | undefined {
  if (method === 'POST' && path === '/v2/upload') return { step: 'upload' };
  if (method === 'POST' && path === '/v2/transcript') return { step: 'create' };
  if (method === 'GET' && /^\/v2\/transcript(\?limit=\d+)?$/.test(path)) return { step: 'list' };
  const [, id, sentences] = /^\/v2\/transcript\/([^/?]+)(\/sentences)?$/.exec(path) ?? [];
  if (method !== 'GET' || id === undefined) return undefined;
  return { step: sentences === undefined ? 'read' : 'sentences', id };
}

function sendRaw(response: ServerResponse, { status = 200, contentType = 'application/json', body }: RawScript): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(body);
}

type RawScript = Extract<Script, { kind: 'raw' }>;
