import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_FRAME_BYTES_MAX } from '../../limits.ts';
import { parseObject } from '../kit/http.ts';
import { streamFault } from './wire.ts';

/** One message of AWS's binary event stream. */
export interface StreamEvent {
  readonly type: string;
  readonly body: JsonObject;
}

const PRELUDE_BYTES = 12;

/**
 * Messages out of a body, each decoded and its checksums verified by AWS's own codec. Throws UpstreamError for what is no
 * message, for an exception inside the stream, and for a body that ends inside a message.
 */
export async function* readEventStream(body: AsyncIterable<Buffer>): AsyncIterable<StreamEvent> {
  const { EventStreamCodec } = await import('@smithy/core/event-streams');
  const codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
    (text) => Buffer.from(text, 'utf8'),
  );
  const pieces: Buffer[] = [];
  let missing = PRELUDE_BYTES;
  for await (const piece of body) {
    pieces.push(piece);
    missing -= piece.length;
    // A long message may come in thousands of pieces: joined with each, it would be copied as often.
    if (missing > 0) continue;
    let rest = Buffer.concat(pieces.splice(0));
    let size = sizeOf(rest);
    while (size !== undefined && rest.length >= size) {
      yield toEvent(codec, rest.subarray(0, size));
      rest = rest.subarray(size);
      size = sizeOf(rest);
    }
    if (rest.length > 0) pieces.push(rest);
    missing = (size ?? PRELUDE_BYTES) - rest.length;
  }
  if (pieces.length > 0) throw new UpstreamError('server', 'the stream ended inside a message');
}

/** The length that a message begins with; undefined where not enough of it is here. */
function sizeOf(bytes: Buffer): number | undefined {
  if (bytes.length < PRELUDE_BYTES) return undefined;
  const size = bytes.readUInt32BE(0);
  if (size > PRELUDE_BYTES && size <= UPSTREAM_FRAME_BYTES_MAX) return size;
  throw new UpstreamError('garbled', 'a message that is none, or too large');
}

interface Codec {
  decode(message: Uint8Array): { headers: Record<string, { value: unknown }>; body: Uint8Array };
}

function toEvent(codec: Codec, bytes: Buffer): StreamEvent {
  const { headers, body } = decoded(codec, bytes);
  const text = Buffer.from(body).toString('utf8');
  const nameIn = (header: string) => {
    const value = headers[header]?.value;
    return typeof value === 'string' ? value : '';
  };
  if (nameIn(':message-type') !== 'event') {
    const exception = nameIn(':exception-type') || nameIn(':error-code');
    throw new UpstreamError(streamFault(exception), `an exception inside the stream: ${exception} ${text}`);
  }
  const value = parseObject(text);
  if (value === undefined) throw new UpstreamError('garbled', 'an event that is not JSON');
  return { type: nameIn(':event-type'), body: value };
}

function decoded(codec: Codec, bytes: Buffer): ReturnType<Codec['decode']> {
  try {
    return codec.decode(bytes);
  } catch (error) {
    throw new UpstreamError('garbled', `a message that cannot be read: ${String(error)}`, { cause: error });
  }
}
