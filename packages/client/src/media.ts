import { readWhole, requestIdOf } from './transport.ts';

/** Sound, a picture or a clip on its way here: take its stream, or all of its bytes, once. */
export interface Media {
  /** Such as `image/png`. */
  readonly type: string;
  /** How many bytes, where that is known from the start. */
  readonly size: number | undefined;
  /** What it cost, where the answer began with that. */
  readonly credits: number | undefined;
  readonly requestId: string | undefined;
  readonly stream: ReadableStream<Uint8Array>;
  bytes(): Promise<Uint8Array>;
}

export function mediaOf(response: Response, signal: AbortSignal | undefined): Media {
  const numberAt = (name: string) => {
    const text = response.headers.get(name);
    return text === null ? undefined : Number(text);
  };
  return {
    type: response.headers.get('content-type') ?? 'application/octet-stream',
    size: numberAt('content-length'),
    credits: numberAt('x-credits-charged'),
    requestId: requestIdOf(response),
    stream: response.body ?? new Blob([]).stream(),
    bytes: async () => new Uint8Array(await readWhole(response, signal, () => response.arrayBuffer())),
  };
}
