import { randomBytes } from 'node:crypto';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { LINK_MS, OUTPUT_KEPT_MS, SPEECH_BYTES_MAX, SPEECH_INLINE_BYTES_MAX } from '../limits.ts';
import { deleteObjectsAt, recordObjects } from '../objects/index.ts';
import { StorageUnavailable } from '../storage/index.ts';
import type { SpeechOrder } from './speech-order.ts';
import type { Sound } from './speech-sound.ts';

/** How a clip is delivered inside JSON. */
export type Content = { readonly url: string } | { readonly base64: string };

/** A clip that is whole. */
export interface WholeSound {
  readonly sound: Sound;
  readonly bytes: number;
  readonly pieces: () => AsyncIterable<Buffer>;
}

/** A link where one is wanted and can be made, else the bytes themselves. Throws StorageUnavailable when neither can be. */
export async function deliverContent(order: SpeechOrder, whole: WholeSound): Promise<Content> {
  if (order.request.output !== 'url') return inline(whole);
  try {
    return { url: await store(order, whole) };
  } catch (error) {
    // It may happen to every clip of the answer.
    const isSmall = whole.bytes * order.request.n <= SPEECH_INLINE_BYTES_MAX;
    if (!(error instanceof StorageUnavailable && isSmall)) throw error;
    order.deps.log.warn({ request_id: order.context.requestId, err: error }, 'speech is sent inline: no link was made');
    return inline(whole);
  }
}

export function tooLargeToInline(): ApiError {
  const message = 'The audio is larger than 32 MiB. Ask for it with "output" as "binary" or "url".';
  return new ApiError('upstream_response_too_large', { message });
}

async function inline({ pieces }: WholeSound): Promise<Content> {
  return { base64: Buffer.concat(await Array.fromAsync(pieces())).toString('base64') };
}

/** Writes its row first: however this ends, the clean-up knows that there is an object to delete. */
async function store({ deps, accountId, context }: SpeechOrder, { sound, bytes, pieces }: WholeSound): Promise<string> {
  const { db, objects, clock, log } = deps;
  const { mimeType, extension } = sound;
  const key = `speech/${randomBytes(20).toString('hex')}`;
  const now = clock.now();
  await recordObjects(db, [{ key, accountId, mimeType, bytes, deleteAt: new Date(now.getTime() + OUTPUT_KEPT_MS) }]);
  try {
    killPoint(log, 'speech.result.before-store', key);
    await objects.put(key, pieces(), { mimeType, bytesMax: SPEECH_BYTES_MAX, signal: context.signal });
    killPoint(log, 'speech.result.after-store', key);
    const expiresAt = new Date(now.getTime() + LINK_MS);
    return await objects.link(key, { mimeType, fileName: `speech.${extension}`, expiresAt, now });
  } catch (error) {
    await deleteObjectsAt(db, [key], clock.now()).catch(() => undefined);
    throw error;
  }
}
