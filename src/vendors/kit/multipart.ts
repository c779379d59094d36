import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Media } from '../vendor.ts';
import type { StreamedBody } from './exchange.ts';

export type Part =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly file: Media };

/** A form as `multipart/form-data`. Files are read when their turn comes, piece by piece. */
export function toMultipart(parts: readonly Part[]): { contentType: string; body: StreamedBody } {
  const boundary = `form-${randomUUID()}`;
  const sections = sectionsOf(parts, boundary);
  const bytes = sections.reduce((sum, section) => sum + (Buffer.isBuffer(section) ? section.length : section.bytes), 0);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: { bytes, pieces: pieces(sections) } };
}

/** Files, and all that stands between them. */
function sectionsOf(parts: readonly Part[], boundary: string): (Buffer | Media)[] {
  const sections: (Buffer | Media)[] = [];
  let text = '';
  for (const part of parts) {
    text += headOf(part, boundary);
    if ('value' in part) continue;
    sections.push(Buffer.from(text), part.file);
    text = '\r\n';
  }
  return [...sections, Buffer.from(`${text}--${boundary}--\r\n`)];
}

async function* pieces(sections: readonly (Buffer | Media)[]): AsyncGenerator<Buffer> {
  for (const section of sections) {
    if (Buffer.isBuffer(section)) yield section;
    else yield* contentOf(section);
  }
}

async function* contentOf(file: Media): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of file.pieces()) {
    bytes += piece.length;
    yield piece;
  }
  // The length of the whole has been promised already.
  assert.equal(bytes, file.bytes, 'a file has another length than it was said to have');
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
