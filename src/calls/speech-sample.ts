import { ApiError } from '../errors.ts';
import { CLIP_BYTES_MAX, VOICE_SAMPLE_BYTES_MAX } from '../limits.ts';
import { byteSourceOf, measure, sniff, Unreadable } from '../media/index.ts';
import { linkedObject } from '../objects/index.ts';
import type { MediaSource } from '../schemas/index.ts';
import { inMemoryMedia, type Media } from '../vendors/index.ts';
import type { CallDeps } from './deps.ts';

const SAMPLE_TYPES = ['audio/mpeg', 'audio/wav'];

/**
 * A voice sample, fetched if need be and judged by its bytes. Throws `unsupported_audio_format`,
 * `voice_sample_too_large`, `invalid_reference_audio` for one that cannot be played, and as the guarded fetch does.
 */
export async function readSample(
  deps: CallDeps,
  accountId: string,
  source: MediaSource,
  signal: AbortSignal,
): Promise<Media> {
  const { bytes, url } = await sourceBytes(deps, accountId, source, signal);
  const sniffed = sniff(bytes);
  if (sniffed === undefined || !SAMPLE_TYPES.includes(sniffed.mimeType)) {
    const message = 'A voice sample must be MP3 or WAV.';
    throw new ApiError('unsupported_audio_format', { message });
  }
  try {
    await measure(byteSourceOf(bytes), sniffed);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new ApiError('invalid_reference_audio', { cause: error });
  }
  return inMemoryMedia(bytes, sniffed.mimeType, url);
}

interface Sample {
  readonly bytes: Buffer;
  readonly url?: string;
}

async function sourceBytes(
  { guardedFetch, objects, ...deps }: CallDeps,
  accountId: string,
  source: MediaSource,
  signal: AbortSignal,
): Promise<Sample> {
  if (source.from === 'bytes') return { bytes: source.bytes };
  if (source.from === 'upload') throw new Error('speech takes no forms');
  const own = await linkedObject({ ...deps, objects }, accountId, source.url);
  if (own !== undefined) {
    const found = await objects.read(own.key);
    if (found === undefined) throw new ApiError('invalid_input_url');
    return { bytes: await collected(found.body) };
  }
  // More than is wanted, so that what is too large can be told from what cannot be fetched.
  const { url, body } = await guardedFetch.open(source.url, { bytesMax: CLIP_BYTES_MAX, signal });
  return { bytes: await collected(body), url };
}

async function collected(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > VOICE_SAMPLE_BYTES_MAX) throw new ApiError('voice_sample_too_large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
