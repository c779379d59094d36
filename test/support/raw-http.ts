import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from './gateway.ts';
import { WAIT_MS_MAX } from './patience.ts';

/** One connection on which exactly the given bytes are sent, so that a test can say what no HTTP client would. */
export class RawConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #failure: Error | undefined;
  #news = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#tell();
    });
    socket.on('error', (error) => {
      this.#failure = error;
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#hasEnded = true;
        this.#tell();
      });
    }
  }

  /** Stays open for sending when the server has ended its side. `from` is another address of this machine. */
  static async open(url: string, from?: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const local = from === undefined ? {} : { localAddress: from };
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true, ...local });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** Resolves when the bytes are on their way, or the peer takes them no more. */
  async send(bytes: string | Buffer): Promise<void> {
    if (this.#socket.write(bytes)) return;
    const [signal, done] = endable();
    await Promise.race(['drain', 'close'].map((event) => once(this.#socket, event, { signal }))).finally(done);
  }

  /** Says that nothing more will be sent. */
  finish(): void {
    this.#socket.end();
  }

  /** Reads nothing more. */
  pause(): void {
    this.#socket.pause();
  }

  /** Goes away as a killed program does. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** The next whole answer. `head` tells that it has no body, whatever its headers say. */
  async answer({ head = false } = {}): Promise<Answer> {
    await this.#until(() => this.#received.includes('\r\n\r\n'));
    const [statusLine = '', ...lines] = this.#take(this.#received.indexOf('\r\n\r\n') + 4)
      .trimEnd()
      .split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    assert.ok(status >= 100, `not an answer: ${statusLine}`);
    const headers = Object.fromEntries(lines.map(nameAndValue));
    const length = head ? 0 : Number(headers['content-length'] ?? 0);
    await this.#until(() => this.#received.length >= length);
    const text = this.#take(length);
    return { status, headers, text, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** Resolves once what came ends with this, and takes it all. */
  async until(ending: string): Promise<string> {
    await this.#until(() => this.#received.toString('utf8').endsWith(ending));
    return this.#take(this.#received.length);
  }

  /** Resolves when the server has ended its side, with what came since the last answer. Fails after a reset. */
  async end(): Promise<string> {
    await this.#until(() => this.#hasEnded);
    assert.equal(this.#failure, undefined);
    return this.#take(this.#received.length);
  }

  #take(length: number): string {
    const taken = this.#received.toString('utf8', 0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async #until(isTrue: () => boolean): Promise<void> {
    const late = setTimeout(() => this.#socket.destroy(), WAIT_MS_MAX);
    try {
      while (!isTrue()) {
        assert.ok(
          !this.#hasEnded,
          `ended (${this.#failure?.message}) after ${JSON.stringify(this.#received.toString())}`,
        );
        await this.#news.promise;
      }
    } finally {
      clearTimeout(late);
    }
  }
}

/** Sends one request on a connection of its own and returns the first answer. */
export async function sendRaw(url: string, bytes: string | Buffer, options: { head?: boolean } = {}): Promise<Answer> {
  using connection = await RawConnection.open(url);
  await connection.send(bytes);
  return await connection.answer(options);
}

/** A request with these header lines, a Host, and a Content-Length when it has a body. */
export function requestText(line: string, headers: readonly string[] = [], body?: string): string {
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${line} HTTP/1.1`, 'Host: gateway.test', ...headers, ...length, '', body ?? ''].join('\r\n');
}

function nameAndValue(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function endable(): [AbortSignal, () => void] {
  const controller = new AbortController();
  return [controller.signal, () => controller.abort()];
}
