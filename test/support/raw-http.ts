import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from './gateway.ts';

const WAIT_MS_MAX = 10_000;

/** One connection on which exactly the given bytes are sent, so that a test can say what no HTTP client would. */
export class RawConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
    });
    // A reset after the answer is an end like any other; one before it fails the read.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#ended = true;
    });
    socket.on('end', () => {
      this.#ended = true;
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** False when the other side takes no more at the moment. */
  send(bytes: string | Buffer): boolean {
    return this.#socket.write(bytes);
  }

  /** Sends until the other side has taken everything or has closed. */
  async sendAll(bytes: string | Buffer): Promise<void> {
    if (!this.send(bytes)) await Promise.race([once(this.#socket, 'drain'), once(this.#socket, 'close')]);
  }

  /** Goes away without a farewell. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The next whole answer. `head` tells that it has no body, whatever its headers say. */
  async answer(options: { head?: boolean } = {}): Promise<Answer> {
    await this.#until(() => this.#received.includes('\r\n\r\n'));
    const end = this.#received.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    assert.ok(status >= 100, `not an answer: ${statusLine}`);
    const headers = Object.fromEntries(lines.map(splitHeader));
    this.#received = this.#received.subarray(end + 4);
    const body = await this.#take(options.head === true ? 0 : Number(headers['content-length'] ?? 0));
    const text = body.toString();
    return { status, headers, text, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** Resolves when the server has ended the connection; what came since the last answer is returned. */
  async end(): Promise<string> {
    await this.#until(() => this.#ended);
    return this.#received.toString();
  }

  async #take(length: number): Promise<Buffer> {
    await this.#until(() => this.#received.length >= length);
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  async #until(isTrue: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(WAIT_MS_MAX);
    while (!isTrue()) {
      assert.ok(!this.#ended, `the connection ended after: ${JSON.stringify(this.#received.toString('latin1'))}`);
      // `end` and `close` also stop the wait: nothing more will come then.
      await Promise.race(['data', 'end', 'close'].map((event) => once(this.#socket, event, { signal })));
    }
  }
}

/** Sends one request on a connection of its own and returns the first answer. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<Answer> {
  const connection = await RawConnection.open(url);
  try {
    connection.send(bytes);
    return await connection.answer();
  } finally {
    connection.close();
  }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
