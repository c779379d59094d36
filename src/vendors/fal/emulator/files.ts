import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32, deflateSync } from 'node:zlib';
import { LocalServer } from '../../emulator/local-server.ts';

interface Asking {
  readonly path: string;
  readonly hasKey: boolean;
}

/** Where results are fetched from: another origin, which must never see the key. */
export class FileHost extends LocalServer {
  readonly requests: Asking[] = [];
  readonly #files = new Map<string, { bytes: Buffer; type: string; announced: number | undefined }>();

  /** Where the file is from now on. It may be announced with another length than it has. */
  add(name: string, bytes: Buffer, type: string, announced?: number): string {
    const path = `/files/${name}`;
    this.#files.set(path, { bytes, type, announced });
    return this.url + path;
  }

  protected async serve({ url: path = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const hasKey = headers.authorization !== undefined;
    this.requests.push({ path, hasKey });
    const file = this.#files.get(path);
    const status = hasKey ? 400 : file === undefined ? 404 : 200;
    const length = file?.announced === undefined ? {} : { 'content-length': file.announced };
    response.writeHead(status, { 'content-type': file?.type ?? 'text/plain', ...length });
    response.end(status === 200 ? file?.bytes : '');
  }
}

/** A grey picture that every reader can open. */
export function smallPng(side = 2): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 8;
  // Each row begins with its filter.
  const rows = Buffer.alloc(side * (side + 1), 0x80);
  for (let row = 0; row < side; row++) rows[row * (side + 1)] = 0;
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
