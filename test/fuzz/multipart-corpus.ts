// Forms as clients write them, and as none should.
import type { Random } from '../../packages/verify/src/random.ts';
import type { Sample } from './media-corpus.ts';

export interface FormPart {
  readonly name: string;
  readonly value: string | Sample;
}

export interface Form {
  readonly contentType: string;
  readonly body: Buffer;
}

const BOUNDARY = 'fuzz-boundary-7MA4YWxkTrZu0gW';

export function wholeForm(parts: readonly FormPart[], boundary = BOUNDARY): Form {
  const pieces = parts.flatMap(({ name, value }) => [
    Buffer.from(`--${boundary}\r\n${dispositionOf(name, value)}\r\n\r\n`),
    typeof value === 'string' ? Buffer.from(value) : value.bytes,
    Buffer.from('\r\n'),
  ]);
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function dispositionOf(name: string, value: string | Sample): string {
  const disposition = `Content-Disposition: form-data; name="${name}"`;
  if (typeof value === 'string') return disposition;
  return `${disposition}; filename="${value.name}"\r\nContent-Type: ${value.mimeType}`;
}

type Spoiler = (form: Form, parts: readonly FormPart[], random: Random) => Form;

const SPOILERS: readonly Spoiler[] = [
  ({ body }) => ({ contentType: 'multipart/form-data', body }),
  ({ body }) => ({ contentType: 'multipart/form-data; boundary=', body }),
  ({ body }) => ({ contentType: 'multipart/form-data; boundary=""', body }),
  ({ body }) => ({ contentType: `multipart/form-data; boundary=${'b'.repeat(71)}`, body }),
  ({ body }) => ({ contentType: `multipart/form-data; boundary=other`, body }),
  ({ body }) => ({ contentType: `multipart/form-data; boundary="${BOUNDARY}"; charset=utf-16`, body }),
  ({ body }) => ({ contentType: `multipart/form-data; boundary=${BOUNDARY}; boundary=x`, body }),
  ({ body }) => ({ contentType: `multipart/mixed; boundary=${BOUNDARY}`, body }),
  ({ body }) => ({ contentType: `MULTIPART/FORM-DATA;BOUNDARY=${BOUNDARY}`, body }),
  ({ contentType, body }, _parts, random) => ({ contentType, body: body.subarray(0, random.whole(0, body.length)) }),
  ({ contentType, body }) => ({ contentType, body: Buffer.concat([Buffer.from('preamble\r\n'), body, body]) }),
  ({ contentType }) => ({ contentType, body: Buffer.alloc(0) }),
  ({ contentType }) => ({ contentType, body: Buffer.from(`--${BOUNDARY}--\r\n`) }),
  ({ contentType }) => ({ contentType, body: Buffer.from(`--${BOUNDARY}\r\n\r\n`) }),
  ({ contentType, body }) => ({
    contentType,
    body: Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  }),
  ({ contentType, body }) => ({ contentType, body: withHeader(body, `X-Huge: ${'h'.repeat(100_000)}`) }),
  ({ contentType, body }) => ({ contentType, body: withHeader(body, 'X-Many: 1\r\n'.repeat(3_000).trimEnd()) }),
  ({ contentType, body }) => ({ contentType, body: withHeader(body, 'no colon here') }),
  ({ contentType, body }) => ({ contentType, body: withHeader(body, 'Content-Transfer-Encoding: base64') }),
  ({ contentType, body }) => ({ contentType, body: withHeader(body, 'Content-Disposition: form-data; name="two"') }),
  ({ contentType, body }) => ({ contentType, body: withHeader(body, 'Content-Type: text/plain; charset=utf-7') }),
  (_form, parts) => wholeForm([...parts, ...parts]),
  (_form, parts) => wholeForm(parts.filter((_part, place) => place > 0)),
  (_form, parts) => wholeForm([...parts, ...Array(1_000).fill({ name: 'many', value: 'x' })]),
  (_form, parts) => wholeForm([...parts, { name: 'n'.repeat(201), value: 'x' }]),
  (_form, parts) => wholeForm([...parts, { name: '__proto__', value: 'x' }, { name: '', value: '' }]),
  (_form, parts) => wholeForm([...parts, { name: 'a"\r\nX-Injected: 1', value: '\0\ud800' }]),
  (_form, parts) => wholeForm([{ name: 'extra', value: 'v'.repeat(1_100_000) }, ...parts]),
  (_form, parts) => wholeForm(parts.map(({ name }) => ({ name, value: 'no file' }))),
  (_form, parts) => wholeForm(parts.map((part) => ({ ...part, name: `${part.name}[]` }))),
  (_form, parts, random) =>
    wholeForm(renamed(parts, random.pick(['', '../../x', 'a\0b', '"', "*=utf-8''%00", 'é😀', 'CON']))),
  ({ contentType, body }) => {
    const inner = Buffer.from(`Content-Type: multipart/mixed; boundary=inner\r\n\r\n--inner\r\n\r\nx\r\n--inner--`);
    return { contentType, body: Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n`), inner, Buffer.from('\r\n'), body]) };
  },
  ({ contentType, body }, _parts, random) => {
    const changed = Buffer.from(body);
    for (let flips = random.whole(1, 8); flips > 0; flips--)
      changed[random.whole(0, body.length - 1)] = random.whole(0, 255);
    return { contentType, body: changed };
  },
];

export function spoiledForm(parts: readonly FormPart[], random: Random): Form {
  return random.pick(SPOILERS)(wholeForm(parts), parts, random);
}

function withHeader(body: Buffer, header: string): Buffer {
  const at = body.indexOf('\r\n');
  return Buffer.concat([body.subarray(0, at + 2), Buffer.from(`${header}\r\n`), body.subarray(at + 2)]);
}

function renamed(parts: readonly FormPart[], fileName: string): FormPart[] {
  return parts.map(({ name, value }) => ({
    name,
    value: typeof value === 'string' ? value : { ...value, name: fileName },
  }));
}
