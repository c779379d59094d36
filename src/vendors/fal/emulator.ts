import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { objectIn } from '../emulator/json.ts';
import { LocalServer } from '../emulator/local-server.ts';
import { refusalOf, type Target, targetOf } from './emulator/checks.ts';
import { ERRORS, type ErrorName, type Failure } from './emulator/errors.ts';
import { FileHost } from './emulator/files.ts';
import { FalTask, type Files, type Outcome, STILL_RUNNING } from './emulator/tasks.ts';

type Json = Readonly<Record<string, unknown>>;

export interface FalOptions {
  /** The key that it asks for. */
  readonly apiKey?: string;
  /** Stands in every header, document, error and file name. */
  readonly marker?: string;
  /** How often a task may be asked after before it is over; without a number it waits to be advanced by hand. */
  readonly readsUntilDone?: number;
  readonly files?: Files;
  /** The host that answers a call with its result, in place of the queue. */
  readonly isDirect?: boolean;
}

export type Step = Target['step'];

/** What the next request of a step gets. One that the vendor would refuse is refused whatever the script says. */
export type Script =
  | { readonly kind: 'answer' }
  | { readonly kind: 'error'; readonly error: ErrorName; readonly headers?: Readonly<Record<string, string>> }
  /** The usual document, changed. */
  | { readonly kind: 'changed'; readonly change: (document: Json) => unknown }
  | { readonly kind: 'raw'; readonly status?: number; readonly contentType?: string; readonly body: string }
  /** The usual answer, later. */
  | { readonly kind: 'slow'; readonly until: Promise<void> }
  | { readonly kind: 'fault'; readonly fault: SocketFault };

/** Only what comes after the acceptance leaves a task behind. */
export type SocketFault =
  | 'reset before the body is read'
  | 'reset'
  | 'reset after acceptance'
  | 'reset in the answer'
  | 'silence'
  | 'garbage';

export interface Recorded {
  readonly step: Step | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The vendor's queue, as strict as it is about what it is sent, and its file host. */
export class FalEmulator extends LocalServer {
  readonly requests: Recorded[] = [];
  /** Every task that it accepted, in order: what the vendor would charge for. */
  readonly tasks: FalTask[] = [];
  readonly files = new FileHost();
  readonly #scripts: Record<Step, Script[]> = { submit: [], status: [], result: [], cancel: [] };
  readonly #outcomes: Outcome[] = [];
  readonly #reads = new Map<FalTask, number>();
  readonly #options: Required<FalOptions>;

  constructor({
    apiKey = 'id:secret',
    marker = 'upstream-marker',
    readsUntilDone,
    files = {},
    isDirect = false,
  }: FalOptions = {}) {
    super();
    this.#options = { apiKey, marker, readsUntilDone: readsUntilDone ?? Number.POSITIVE_INFINITY, files, isDirect };
  }

  override async start(): Promise<void> {
    await Promise.all([super.start(), this.files.start()]);
  }

  override async stop(): Promise<void> {
    await Promise.all([super.stop(), this.files.stop()]);
  }

  /** One for each request of this step to come; when they are used up, the vendor does what it should. */
  script(step: Step, ...scripts: readonly Script[]): void {
    this.#scripts[step].push(...scripts);
  }

  /** One for each task to come; when they are used up, tasks succeed. */
  outcome(...outcomes: readonly Outcome[]): void {
    this.#outcomes.push(...outcomes);
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const target = targetOf(path);
    const script = (target && this.#scripts[target.step].shift()) ?? { kind: 'answer' };
    if (script.kind === 'fault' && script.fault === 'reset before the body is read') {
      this.requests.push({ step: target?.step, method, path, headers, bytes: Buffer.alloc(0) });
      response.socket?.resetAndDestroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const recorded = { step: target?.step, method, path, headers, bytes: Buffer.concat(chunks) };
    this.requests.push(recorded);
    const refusal = refusalOf(recorded, target, this.#options.apiKey);
    if (refusal !== undefined || target === undefined) this.#fail(response, refusal ?? ERRORS.lost);
    else await this.#follow(script, target, recorded, response);
  }

  async #follow(script: Script, target: Target, recorded: Recorded, response: ServerResponse): Promise<void> {
    if (script.kind === 'slow') await script.until;
    if (script.kind === 'error') return this.#fail(response, withHeaders(ERRORS[script.error], script.headers));
    if (script.kind === 'raw' && (script.status ?? 200) >= 300) return sendRaw(response, script);
    if (script.kind === 'fault' && script.fault === 'reset') {
      response.socket?.resetAndDestroy();
      return;
    }
    const { status, body, headers } = this.#answer(target, recorded);
    const id = target.step === 'submit' ? this.tasks.at(-1)?.id : target.id;
    response.setHeader('x-fal-request-id', id ?? '');
    switch (script.kind) {
      case 'raw':
        return sendRaw(response, script);
      case 'fault':
        return this.#break(response, script.fault, JSON.stringify(body));
      case 'changed':
        return this.#send(response, status, script.change(body), headers);
      case 'slow':
      case 'answer':
        return status >= 300
          ? this.#fail(response, { status, body, ...(headers && { headers }) })
          : this.#send(response, status, body);
    }
  }

  /** What the vendor does: accepts a task, tells its status, gives its result or stops it. */
  #answer(target: Target, { bytes, path }: Recorded): Failure {
    if (target.step === 'submit') {
      const task = new FalTask(target.model, target.app, objectIn(bytes) ?? {}, this.#outcomes.shift() ?? SUCCESS);
      this.tasks.push(task);
      if (this.#options.isDirect) {
        task.advance('COMPLETED');
        return task.result(this.files, this.#options.files, this.#options.marker);
      }
      return { status: 200, body: task.statusAt(this.url, false) };
    }
    const task = this.tasks.find(({ id, app }) => id === target.id && app === target.app);
    if (task === undefined) return ERRORS.lost;
    switch (target.step) {
      case 'status':
        this.#read(task);
        return {
          status: task.state === 'COMPLETED' ? 200 : 202,
          body: task.statusAt(this.url, new URL(path, this.url).searchParams.get('logs') === '1'),
        };
      case 'result':
        return task.result(this.files, this.#options.files, this.#options.marker);
      case 'cancel':
        if (task.state !== 'IN_QUEUE') return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
        task.cancel();
        return { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
    }
  }

  /** The first reading finds it in the queue and those behind it running, until it has been read often enough. */
  #read(task: FalTask): void {
    const { readsUntilDone } = this.#options;
    const reads = this.#reads.get(task) ?? 0;
    this.#reads.set(task, reads + 1);
    if (reads >= readsUntilDone) task.advance('COMPLETED');
    else if (reads > 0 && Number.isFinite(readsUntilDone)) task.advance('IN_PROGRESS');
  }

  #send(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const own = { 'content-type': 'application/json', 'x-fal-served-from': this.#options.marker };
    response.writeHead(status, { ...own, ...headers });
    response.end(JSON.stringify(body));
  }

  #fail(response: ServerResponse, { status, body, headers }: Failure): void {
    this.#send(response, status, marked(body, this.#options.marker), headers);
  }

  #break(response: ServerResponse, fault: SocketFault, whole: string): void {
    switch (fault) {
      case 'reset in the answer':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
        response.write(whole.slice(0, 20), () => response.socket?.resetAndDestroy());
        return;
      case 'garbage':
        response.socket?.end(`${this.#options.marker} is not HTTP\r\n\r\n`);
        return;
      case 'silence':
        return;
      case 'reset after acceptance':
      case 'reset':
      case 'reset before the body is read':
        response.socket?.resetAndDestroy();
    }
  }
}

const SUCCESS: Outcome = { kind: 'success' };

function withHeaders(failure: Failure, headers: Readonly<Record<string, string>> = {}): Failure {
  return { ...failure, headers: { ...failure.headers, ...headers } };
}

function sendRaw(response: ServerResponse, { status = 200, contentType = 'application/json', body }: RawScript): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(body);
}

type RawScript = Extract<Script, { kind: 'raw' }>;

/** The vendor's words, recognisable wherever they turn up. */
function marked(body: Json, marker: string): Json {
  const { detail } = body;
  if (detail === STILL_RUNNING) return body;
  if (!Array.isArray(detail))
    return { ...body, ...(detail !== undefined && { detail: `${JSON.stringify(detail)} ${marker}` }) };
  return { ...body, detail: detail.map((part: Json) => ({ ...part, msg: `${String(part.msg)} ${marker}` })) };
}
