import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { BenchServer } from './child.ts';
import type { Load } from './load.ts';

const READ_BYTES = 65_536;
const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/**
 * Callers of one server who send the same request again and again, each on a connection of its own. They know just enough
 * of HTTP to see where an answer ends: whatever is done here is taken from the servers.
 */
export class Callers {
  readonly #port: number;
  readonly #request: Buffer;
  readonly #all: Socket[] = [];
  readonly #free: Caller[] = [];

  constructor(server: BenchServer, load: Load) {
    const { host, port } = new URL(server.url);
    this.#port = Number(port);
    this.#request = requestOf(host, server.key, load);
  }

  /** So many connections are opened now; more are when they are needed. */
  async open(connections: number): Promise<void> {
    for (let opened = 0; opened < connections; opened++) this.#free.push(this.#connect());
    await Promise.all(this.#all.map((socket) => once(socket, 'connect')));
  }

  send(onAnswer: () => void): void {
    const caller = this.#free.pop() ?? this.#connect();
    caller.onAnswer = () => {
      this.#free.push(caller);
      onAnswer();
    };
    caller.socket.write(this.#request);
  }

  close(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #connect(): Caller {
    const answer = new Answer();
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (bytes: number) => {
      if (answer.endsWith(buffer, bytes)) caller.onAnswer();
      return true;
    };
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } });
    const caller: Caller = { socket, onAnswer: () => undefined };
    this.#all.push(socket);
    return caller;
  }
}

interface Caller {
  readonly socket: Socket;
  onAnswer: () => void;
}

/** How much of an answer has come. */
class Answer {
  #bytes = 0;
  /** Undefined until its head has come; NaN if it comes in chunks. */
  #wholeBytes: number | undefined;

  /** Whether these bytes are its last ones. The next are those of another answer. */
  endsWith(piece: Buffer, bytes: number): boolean {
    this.#wholeBytes ??= wholeBytesOf(piece.toString('latin1', 0, bytes));
    this.#bytes += bytes;
    const isWhole = Number.isNaN(this.#wholeBytes)
      ? piece.toString('latin1', Math.max(0, bytes - LAST_CHUNK.length), bytes) === LAST_CHUNK
      : this.#bytes === this.#wholeBytes;
    if (!isWhole) return false;
    this.#bytes = 0;
    this.#wholeBytes = undefined;
    return true;
  }
}

function wholeBytesOf(piece: string): number {
  const headEnd = piece.indexOf(HEAD_END);
  if (!piece.startsWith('HTTP/1.1 200 ') || headEnd === -1) throw new Error(`answered with ${piece.slice(0, 500)}`);
  const length = /\r\ncontent-length: (\d+)/i.exec(piece)?.[1];
  return headEnd + HEAD_END.length + Number(length);
}

function requestOf(host: string, key: string, { path, headers, body = '' }: Load): Buffer {
  const bytes = Buffer.from(body);
  const told = { ...headers, host, authorization: `Bearer ${key}`, 'content-length': bytes.length };
  const lines = Object.entries(told).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from([`POST ${path} HTTP/1.1`, ...lines].join('\r\n') + HEAD_END), bytes]);
}
