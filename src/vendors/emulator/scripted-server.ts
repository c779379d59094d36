import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Recorded, RecordingServer, written } from './recording-server.ts';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string | AsyncIterable<Buffer>;
}

/** What the next request gets. One that the vendor would refuse is refused whatever the script says. */
export type Script =
  | { readonly kind: 'answer' }
  /** This, in place of the vendor's own answer. */
  | ({ readonly kind: 'instead' } & Answer)
  | { readonly kind: 'fault'; readonly fault: SocketFault };

/** `reset before the body`: it has read nothing but the headers. */
type SocketFault = 'reset before the body' | 'reset' | 'reset in the answer' | 'silence' | 'garbage' | 'empty';

/** A server on this machine that answers as a vendor would, or as the next script says. */
export class ScriptedServer extends RecordingServer {
  readonly #answer: (asked: Recorded) => Promise<Answer>;
  readonly #scripts: Script[] = [];

  constructor(answer: (asked: Recorded) => Promise<Answer>) {
    super();
    this.#answer = answer;
  }

  /** One for each request to come that is not refused; when they are used up, the vendor does what it should. */
  script(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [next] = this.#scripts;
    const resets = next?.kind === 'fault' && next.fault === 'reset before the body';
    if (resets) this.#scripts.shift();
    const recorded = await this.receive(request, response, resets);
    if (recorded === undefined) return;
    const answer = await this.#answer(recorded);
    const script = answer.status < 300 ? this.#scripts.shift() : undefined;
    await follow(script ?? { kind: 'answer' }, answer, response);
  }
}

async function follow(script: Script, usual: Answer, response: ServerResponse): Promise<void> {
  switch (script.kind) {
    case 'answer':
      return give(usual, response);
    case 'instead':
      return give(script, response);
    case 'fault':
      return fail(script.fault, usual, response);
  }
}

async function give({ status, headers, body }: Answer, response: ServerResponse): Promise<void> {
  response.writeHead(status, headers);
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  for await (const piece of body) await written(response, piece);
  response.end();
}

async function fail(fault: SocketFault, usual: Answer, response: ServerResponse): Promise<void> {
  switch (fault) {
    case 'reset before the body':
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'reset in the answer':
      response.writeHead(200, { ...usual.headers, 'content-length': '1000' });
      await written(response, Buffer.alloc(20, 1));
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      return;
    case 'garbage':
      response.socket?.end('This is not HTTP\r\n\r\n');
      return;
    case 'empty':
      return give({ ...usual, body: '' }, response);
  }
}
