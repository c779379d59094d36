import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Agent, request as send } from 'undici';
import type { Emulator } from '../../src/vendors/emulator/contract.ts';
import { LocalServer } from '../../src/vendors/emulator/local-server.ts';

/** What becomes of a submission. `lost` and `garbled`: the upstream has accepted it all the same. */
export type SubmissionFault =
  | { readonly kind: 'refused'; readonly status: number; readonly type: string; readonly body: string }
  | { readonly kind: 'garbled'; readonly type: string; readonly body: string }
  | { readonly kind: 'silence' | 'lost' };

interface Passed {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Between hops; what undici and Node write themselves. */
const OWN_HEADERS = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'expect'];

/**
 * Stands before an emulator and passes everything on, but for the first submission, which may meet a fault, and for what
 * is held. Addresses in answers that lead to the emulator lead here, since upstreams are trusted with their own only.
 */
export class FaultyProxy extends LocalServer {
  fault: SubmissionFault | undefined;
  submissions = 0;
  /** Submissions that the emulator has taken. */
  accepted = 0;
  readonly #emulator: Emulator;
  readonly #agent: Agent;
  readonly #submission: RegExp;
  readonly #released = Promise.withResolvers<void>();
  #holds: 'polls' | 'answers' | undefined;

  constructor(emulator: Emulator, agent: Agent, submission = /./) {
    super();
    this.#emulator = emulator;
    this.#agent = agent;
    this.#submission = submission;
  }

  /** With the path that an upstream of this vendor is configured with. */
  override get url(): string {
    const { pathname } = new URL(this.#emulator.url);
    return this.origin + (pathname === '/' ? '' : pathname);
  }

  override async start(): Promise<void> {
    await Promise.all([super.start(), this.#emulator.start()]);
  }

  override async stop(): Promise<void> {
    this.release();
    await Promise.all([super.stop(), this.#emulator.stop()]);
  }

  /** Until the release: all that comes after an accepted submission, or the answer to the submission itself. */
  hold(what: 'polls' | 'answers'): void {
    this.#holds = what;
  }

  release(): void {
    this.#holds = undefined;
    this.#released.resolve();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '' } = request;
    const isSubmission = method === 'POST' && this.#submission.test(path);
    if (isSubmission) return this.#submit(request, Buffer.concat(chunks), response);
    if (this.#holds === 'polls' && this.accepted > 0) await this.#released.promise;
    give(await this.#pass(request, Buffer.concat(chunks)), response);
  }

  async #submit(request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const { fault } = this;
    this.fault = undefined;
    this.submissions++;
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'refused') return give(answerOf(fault.status, fault), response);
    const answer = await this.#pass(request, bytes);
    if (answer.status < 300) this.accepted++;
    if (fault?.kind === 'lost') response.socket?.resetAndDestroy();
    else if (this.#holds === 'answers') await this.#released.promise;
    give(fault?.kind === 'garbled' ? answerOf(200, fault) : answer, response);
  }

  async #pass({ method = '', url = '', headers }: IncomingMessage, bytes: Buffer): Promise<Passed> {
    const { origin } = new URL(this.#emulator.url);
    const answer = await send(origin + url, {
      method: method as 'GET',
      headers: without(headers),
      body: method === 'GET' ? null : bytes,
      dispatcher: this.#agent,
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    const ownHeaders = without(answer.headers);
    if (ownHeaders.location !== undefined) ownHeaders.location = ownHeaders.location.replace(origin, this.origin);
    const isJson = /json/.test(ownHeaders['content-type'] ?? '');
    const text = () => Buffer.from(body.toString().replaceAll(origin, this.origin));
    return { status: answer.statusCode, headers: ownHeaders, body: isJson ? text() : body };
  }
}

function without(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

function answerOf(status: number, { type, body }: { readonly type: string; readonly body: string }): Passed {
  return { status, headers: { 'content-type': type }, body: Buffer.from(body) };
}

function give({ status, headers, body }: Passed, response: ServerResponse): void {
  if (!response.destroyed) response.writeHead(status, headers).end(body);
}
