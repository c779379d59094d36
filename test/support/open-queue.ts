import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from '../../src/vendors/emulator/local-server.ts';
import { smallPng } from '../../src/vendors/fal/emulator/files.ts';

export interface Delivered {
  readonly image: Buffer;
  readonly video: Buffer;
  readonly audio: Buffer;
}

/** What was sent: the very text, and the object that it stands for. */
export interface Sent {
  readonly model: string;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into inputs of every shape
  readonly input: any;
}

/** A queue that has every model, takes whatever it is sent, and is done at once. */
export class OpenQueue extends LocalServer {
  /** Requests of every kind. */
  calls = 0;
  readonly submissions: Sent[] = [];
  /** What is made from now on. */
  readonly delivered: { -readonly [kind in keyof Delivered]: Delivered[kind] };
  /** What that is called. */
  deliveredType = 'application/octet-stream';

  constructor(delivered: Partial<Delivered> = {}) {
    super();
    this.delivered = { image: smallPng(), video: smallPng(), audio: smallPng(), ...delivered };
  }

  get last(): Sent {
    const last = this.submissions.at(-1);
    if (last === undefined) throw new Error('nothing was submitted');
    return last;
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.calls += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? '';
    if (request.method === 'POST') return this.#submit(path.slice(1), Buffer.concat(chunks).toString(), response);
    const [, kind] = /^\/files\/(image|video|audio)$/.exec(path) ?? [];
    if (kind === 'image' || kind === 'video' || kind === 'audio') {
      response.writeHead(200, { 'content-type': this.deliveredType }).end(this.delivered[kind]);
    } else sendJson(response, path.endsWith('/status') ? { status: 'COMPLETED' } : this.#result(path));
  }

  #submit(model: string, text: string, response: ServerResponse): void {
    this.submissions.push({ model, text, input: JSON.parse(text) });
    const response_url = `${this.url}/tasks/${this.submissions.length - 1}`;
    const links = { status_url: `${response_url}/status`, response_url, cancel_url: `${response_url}/cancel` };
    sendJson(response, { status: 'IN_QUEUE', request_id: randomUUID(), ...links });
  }

  #result(path: string): object {
    const count = Number(this.submissions[Number(path.split('/').at(-1))]?.input.num_images ?? 1);
    const fileOf = (kind: string) => ({ url: `${this.url}/files/${kind}` });
    return {
      images: Array.from({ length: count }, () => fileOf('image')),
      video: fileOf('video'),
      audio: fileOf('audio'),
    };
  }
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
