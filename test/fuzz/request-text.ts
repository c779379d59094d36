// A request as bytes: what a client would write, or nearly.

export interface Draft {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
}

/** With a Host and a Content-Length where the draft has none of its own. */
export function bytesOf({ method, target, headers, body }: Draft): Buffer {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!names.has('host')) lines.push('Host: gateway.test');
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body !== undefined && !names.has('content-length') && !names.has('transfer-encoding')) {
    lines.push(`Content-Length: ${body.length}`);
  }
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

export function chunked(body: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
