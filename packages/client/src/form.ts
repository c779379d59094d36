import type { Sending } from './transport.ts';

/** What can be uploaded: a Blob (in Node of a file, by `openAsBlob`), bytes, or a stream of bytes. */
export type Upload = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export interface UploadName {
  readonly filename?: string | undefined;
  /** Such as `image/png`. The gateway looks at the bytes, so it may be left out. */
  readonly type?: string | undefined;
}

type Field = readonly [name: string, value: string];

/** A form with one file, as a request. One with a stream can be sent once only, and is never sent again. */
export function formWith(upload: Upload, name: UploadName, fields: readonly Field[]): Sending {
  if (!(upload instanceof Blob || upload instanceof Uint8Array)) {
    const { body, type } = streamedForm(upload, name, fields);
    return { form: () => ({ body, type }), maxRetries: 0, isRepeatable: false };
  }
  const blob = upload instanceof Blob ? upload : new Blob([new Uint8Array(upload)], typeOption(name));
  return { form: () => ({ body: wholeForm(blob, name, fields) }) };
}

function typeOption({ type }: UploadName): BlobPropertyBag {
  return type === undefined ? {} : { type };
}

function wholeForm(blob: Blob, { filename }: UploadName, fields: readonly Field[]): FormData {
  const form = new FormData();
  for (const [field, value] of fields) form.append(field, value);
  form.append('file', blob, filename ?? fileNameOf(blob));
  return form;
}

/** A `File` of a browser has a name. */
function fileNameOf(blob: Blob): string {
  return 'name' in blob && typeof blob.name === 'string' ? blob.name : 'file';
}

/** `FormData` takes no streams, so the form is written here. */
function streamedForm(
  upload: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  name: UploadName,
  fields: readonly Field[],
) {
  const boundary = `tollgate-${randomKey()}`;
  const parts = fields.map(
    ([field, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  );
  const filename = (name.filename ?? 'file').replaceAll(/["\r\n\\]/g, '_');
  const type = name.type ?? 'application/octet-stream';
  const opening = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: ${type}\r\n\r\n`;
  const body = streamOf(framed(parts.join('') + opening, upload, `\r\n--${boundary}--\r\n`));
  return { body, type: `multipart/form-data; boundary=${boundary}` };
}

async function* framed(
  head: string,
  upload: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
  tail: string,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(head);
  yield* upload instanceof ReadableStream ? piecesOf(upload) : upload;
  yield encoder.encode(tail);
}

/** Not every browser has a stream that can be iterated. */
export async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Of a stream that has ended or failed this is a no-op; of one that is left, it frees the connection.
    await reader.cancel().catch(() => undefined);
  }
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

/** 128 random bits. `randomUUID` is missing on pages without https. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
