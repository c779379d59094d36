/** A part of a form: a value, or a file. */
export type Part =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly bytes: Buffer };

export interface SentForm {
  readonly raw: Buffer;
  readonly headers: Record<string, string>;
}

/** A form as a browser sends it, its parts in this order. */
export function form(parts: readonly Part[], boundary = 'gate-boundary'): SentForm {
  const pieces = parts.flatMap((part) => {
    const content = 'value' in part ? Buffer.from(part.value) : part.bytes;
    return [headOf(part, boundary), content, Buffer.from('\r\n')];
  });
  return { raw: Buffer.concat([...pieces, tailOf(boundary)]), headers: typeOf(boundary) };
}

export function headOf(part: { readonly name: string; readonly fileName?: string }, boundary: string): Buffer {
  const file =
    part.fileName === undefined ? '' : `; filename="${part.fileName}"\r\nContent-Type: application/octet-stream`;
  return Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"${file}\r\n\r\n`);
}

export function tailOf(boundary: string): Buffer {
  return Buffer.from(`--${boundary}--\r\n`);
}

export function typeOf(boundary: string): Record<string, string> {
  return { 'content-type': `multipart/form-data; boundary=${boundary}` };
}
