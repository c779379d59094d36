import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { StreamedBody } from './exchange.ts';
import type { Media } from './vendor.ts';

export type Part =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly file: Media };

/** A form as `multipart/form-data`. Files are read when their turn comes, piece by piece. */
export function toMultipart(parts: readonly Part[]): { contentType: string; body: StreamedBody } {
  const boundary = `form-${randomUUID()}`;
  const heads = parts.map((part) => Buffer.from(headOf(part, boundary)));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const files = parts.reduce((sum, part) => sum + ('file' in part ? part.file.bytes + LINE_END.length : 0), 0);
  const bytes = heads.reduce((sum, head) => sum + head.length, files + end.length);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: { bytes, pieces: pieces(parts, heads, end) },
  };
}

const LINE_END = Buffer.from('\r\n');

async function* pieces(parts: readonly Part[], heads: readonly Buffer[], end: Buffer): AsyncGenerator<Buffer> {
  for (const [at, part] of parts.entries()) {
    const head = heads[at];
    if (head !== undefined) yield head;
    if ('file' in part) yield* contentOf(part.file);
  }
  yield end;
}

async function* contentOf(file: Media): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of file.pieces()) {
    bytes += piece.length;
    yield piece;
  }
  // The length of the whole has been promised already.
  assert.equal(bytes, file.bytes, 'a file has another length than it was said to have');
  yield LINE_END;
}

/** Up to the content; the content too where it is a value. */
function headOf(part: Part, boundary: string): string {
  const start = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(part.name)}"`;
  if ('value' in part) return `${start}\r\n\r\n${part.value}\r\n`;
  return `${start}; filename="${quoted(part.fileName)}"\r\ncontent-type: ${part.file.mimeType}\r\n\r\n`;
}

/** As browsers do it: a name can neither end its header nor begin another. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
