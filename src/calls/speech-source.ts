import { ApiError, UpstreamError } from '../errors.ts';
import { SPEECH_BYTES_MAX } from '../limits.ts';
import type { Speech } from '../vendors/index.ts';
import type { CallDeps } from './deps.ts';

/** The sound as it comes: from the upstream itself, or from where the upstream has put it. Throws UpstreamError. */
export async function openSpeech({ collectingFetch }: CallDeps, speech: Speech, signal: AbortSignal): Promise<Speech> {
  if (speech.url === undefined) return speech;
  try {
    const { body } = await collectingFetch.open(speech.url, { bytesMax: SPEECH_BYTES_MAX, signal });
    return { pieces: fetchedPieces(body) };
  } catch (error) {
    throw toUpstreamError(error);
  }
}

async function* fetchedPieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw toUpstreamError(error);
  }
}

/** An address that gives nothing is the fault of the upstream that named it. */
function toUpstreamError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code === 'shutting_down') return error;
  return new UpstreamError('server', `the sound could not be fetched: ${error.message}`, { cause: error });
}
