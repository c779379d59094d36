// A client that sends exactly the bytes that it is given, and reads answers as strictly as it can.
import { connect, type Socket } from 'node:net';

/** An answer, or as much of it as came. */
export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  /** False where the connection ended in the middle of it. */
  readonly isWhole: boolean;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What came of an exchange. */
export interface Exchange {
  readonly replies: readonly Reply[];
  /** What was received and is no answer. */
  readonly rest: string;
  /** Nothing came and nothing ended within the deadline. */
  readonly isSilent: boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const READ_BYTES_MAX = 32 * 1024 * 1024;
/** A long file of rows is left in its middle: each of its pieces is a page of its own, made while it is read. */
const CHUNKED_BYTES_READ = 4 * 1024 * 1024;

/** One connection after the other, on which requests are answered one by one. */
export class Lane {
  readonly #address: Address;
  readonly #deadlineMs: number;
  #socket: Socket | undefined;

  constructor(address: Address, deadlineMs: number) {
    this.#address = address;
    this.#deadlineMs = deadlineMs;
  }

  /** Sends one request and waits for its answer. The connection is kept where the answer leaves it open. */
  async ask(pieces: readonly Buffer[], isHead: boolean): Promise<Exchange> {
    const kept = this.#socket !== undefined && !this.#socket.destroyed;
    const exchange = await this.#exchange(pieces, isHead);
    // A kept connection may have been ended by the server just before: that request was not read.
    if (!kept || exchange.replies.length > 0 || exchange.rest !== '' || exchange.isSilent) return exchange;
    return this.#exchange(pieces, isHead);
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #exchange(pieces: readonly Buffer[], isHead: boolean): Promise<Exchange> {
    if (this.#socket === undefined || this.#socket.destroyed) this.#socket = open(this.#address);
    const socket = this.#socket;
    const reader = new ReplyReader([isHead]);
    const outcome = await new Promise<'answered' | 'ended' | 'silent'>((resolve) => {
      const timer = setTimeout(() => done('silent'), this.#deadlineMs);
      const done = (what: 'answered' | 'ended' | 'silent') => {
        clearTimeout(timer);
        socket.off('data', onData).off('close', onClose).off('end', onClose);
        resolve(what);
      };
      const onData = (bytes: Buffer) => {
        reader.add(bytes);
        if (reader.replies.length > 0 || reader.isBroken) done('answered');
      };
      const onClose = () => {
        reader.end();
        done('ended');
      };
      socket.on('data', onData).on('close', onClose).on('end', onClose);
      for (const piece of pieces) socket.write(piece);
    });
    const reply = reader.replies[0];
    const isKept = outcome === 'answered' && reply?.isWhole === true && reply.headers.connection !== 'close';
    if (!isKept || reader.rest !== '') this.close();
    return { replies: reader.replies, rest: reader.rest, isSilent: outcome === 'silent' };
  }
}

/** How a client leaves when it has sent everything. */
export type Ending = 'half-close' | 'reset' | 'close' | 'wait';

/** A connection of its own: sends everything, leaves in this way, and reads until the server ends. */
export function talk(
  address: Address,
  pieces: readonly Buffer[],
  ending: Ending,
  deadlineMs: number,
): Promise<Exchange> {
  const socket = open(address);
  const reader = new ReplyReader([]);
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(true), deadlineMs);
    const done = (isSilent: boolean) => {
      clearTimeout(timer);
      reader.end();
      socket.destroy();
      resolve({ replies: reader.replies, rest: reader.rest, isSilent });
    };
    socket.on('data', (bytes: Buffer) => {
      reader.add(bytes);
      if (reader.hasLeft) done(false);
    });
    socket.on('end', () => done(false));
    socket.on('close', () => done(false));
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
      if (ending === 'half-close') socket.end();
      if (ending === 'reset') setImmediate(() => socket.resetAndDestroy());
      if (ending === 'close') setImmediate(() => socket.destroy());
    });
  });
}

function open({ host, port }: Address): Socket {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  // A reset shows as the end of the connection.
  socket.on('error', () => undefined);
  return socket;
}

/** Takes answers out of what comes. What is not one is kept as `rest`. */
class ReplyReader {
  readonly replies: Reply[] = [];
  isBroken = false;
  /** Whether the last of the answers was left in its middle. */
  hasLeft = false;
  readonly #heads: boolean[];
  #received: Buffer = Buffer.alloc(0);
  #pieces: Buffer[] = [];
  #gathered = 0;
  #wanted = 0;

  /** For each answer whether it is one to HEAD. */
  constructor(heads: boolean[]) {
    this.#heads = heads;
  }

  get rest(): string {
    this.#join();
    return this.#received.subarray(0, 2_000).toString('latin1');
  }

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#gathered += bytes.length;
    // A large body is joined when it is there, not with every piece of it.
    if (this.#received.length + this.#gathered < this.#wanted) return;
    this.#join();
    if (this.#received.length > READ_BYTES_MAX) this.isBroken = true;
    while (!this.isBroken && this.#takeReply());
  }

  end(): void {
    this.#join();
    while (!this.isBroken && this.#takeReply());
    const head = this.#head();
    if (head === undefined || this.isBroken) return;
    const untilEnd = head.headers['content-length'] === undefined && head.headers['transfer-encoding'] === undefined;
    this.replies.push({ ...head, body: this.#received.subarray(head.end), isWhole: untilEnd });
    this.#received = Buffer.alloc(0);
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    this.#received = Buffer.concat([this.#received, ...this.#pieces]);
    this.#pieces = [];
    this.#gathered = 0;
  }

  #head(): { status: number; headers: Record<string, string>; end: number } | undefined {
    const at = this.#received.indexOf(HEAD_END);
    if (at < 0) {
      if (this.#received.length > 0 && !'HTTP/1.1 '.startsWith(this.#received.subarray(0, 9).toString('latin1')))
        this.isBroken = !this.#received.subarray(0, 9).equals(Buffer.from('HTTP/1.1 '));
      return undefined;
    }
    const [line = '', ...lines] = this.#received.subarray(0, at).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? 0);
    if (status === 0) this.isBroken = true;
    const headers: Record<string, string> = {};
    for (const each of lines) {
      const colon = each.indexOf(':');
      headers[each.slice(0, colon).toLowerCase()] = each.slice(colon + 1).trim();
    }
    return status === 0 ? undefined : { status, headers, end: at + HEAD_END.length };
  }

  /** Whether there may be another. */
  #takeReply(): boolean {
    const head = this.#head();
    if (head === undefined) return false;
    if (head.status < 200) {
      this.#received = this.#received.subarray(head.end);
      return true;
    }
    const isBare = this.#heads[this.replies.length] === true || head.status === 204 || head.status === 304;
    const body = isBare ? { bytes: Buffer.alloc(0), end: head.end } : this.#body(head.headers, head.end);
    if (body === undefined && head.headers['transfer-encoding'] === 'chunked' && !this.isBroken) this.#leave(head);
    if (body === undefined) return false;
    this.#wanted = 0;
    this.replies.push({ status: head.status, headers: head.headers, body: body.bytes, isWhole: true });
    this.#received = this.#received.subarray(body.end);
    return this.#received.length > 0;
  }

  /** Ends the reading of an answer of which enough has come. */
  #leave(head: { status: number; headers: Record<string, string>; end: number }): void {
    if (this.#received.length - head.end < CHUNKED_BYTES_READ) return;
    this.replies.push({ ...head, body: this.#received.subarray(head.end), isWhole: false });
    this.#received = Buffer.alloc(0);
    this.hasLeft = true;
  }

  #body(headers: Record<string, string>, start: number): { bytes: Buffer; end: number } | undefined {
    if (headers['transfer-encoding'] === 'chunked') return this.#chunks(start);
    const length = headers['content-length'];
    if (length === undefined) return undefined;
    const end = start + Number(length);
    this.#wanted = end;
    return this.#received.length < end ? undefined : { bytes: this.#received.subarray(start, end), end };
  }

  #chunks(start: number): { bytes: Buffer; end: number } | undefined {
    const chunks: Buffer[] = [];
    let at = start;
    for (;;) {
      const lineEnd = this.#received.indexOf('\r\n', at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(this.#received.subarray(at, lineEnd).toString('latin1'), 16);
      if (Number.isNaN(size)) {
        this.isBroken = true;
        return undefined;
      }
      const begin = lineEnd + 2;
      if (size === 0) {
        // Trailers, or none: a line of its own ends them.
        const isPlain = this.#received.subarray(begin, begin + 2).equals(HEAD_END.subarray(0, 2));
        const end = isPlain ? begin : this.#received.indexOf(HEAD_END, lineEnd);
        if (end < 0) return undefined;
        return { bytes: Buffer.concat(chunks), end: isPlain ? end + 2 : end + HEAD_END.length };
      }
      if (this.#received.length < begin + size + 2) return undefined;
      chunks.push(this.#received.subarray(begin, begin + size));
      at = begin + size + 2;
    }
  }
}
