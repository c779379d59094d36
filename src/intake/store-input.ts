import { randomBytes } from 'node:crypto';
import { ApiError, type ErrorCode } from '../errors.ts';
import { HELD_INPUT_BYTES_MAX, UNOWNED_KEPT_MS } from '../limits.ts';
import { type MediaKind, Unreadable } from '../media/index.ts';
import { type ObjectStore, ObjectTooLarge, StorageUnavailable } from '../storage/index.ts';
import { gathered, joined } from './gathered.ts';
import type { IntakeParts } from './parts.ts';
import { deleteObjectsAt, recordObjects } from './store.ts';
import { storeMedia } from './store-media.ts';

/** A picture or clip of a request, as it lies in the object store. */
export interface StoredMedia {
  readonly key: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** How long it plays, if it does. */
  readonly seconds?: number | undefined;
  /** Where it was fetched from, in canonical form, if it was. */
  readonly url?: string;
}

/** What a piece of a request must be, and what the caller is told when it is not. */
export interface InputRules {
  readonly kinds: readonly MediaKind[];
  readonly bytesMax: number;
  /** Undefined: any of these kinds. */
  readonly mimeTypes?: readonly string[];
  readonly empty: ErrorCode;
  readonly otherKind: ErrorCode;
  readonly unreadable: ErrorCode;
  readonly tooLarge: ErrorCode;
}

/** One that is to be read at once, and never written down. */
export interface HeldMedia extends StoredMedia {
  /** The whole of it, if that is small. */
  readonly content: Buffer | undefined;
}

export async function storeInput(
  parts: IntakeParts,
  accountId: string,
  body: Buffer | AsyncIterable<Buffer>,
  rules: InputRules,
  signal: AbortSignal,
): Promise<StoredMedia> {
  const { content: _, ...stored } = await storeAndHold(parts, accountId, body, rules, signal);
  return stored;
}

/** Its row comes first: whatever happens from here on, somebody knows that there may be something to clean away. */
export async function storeAndHold(
  parts: IntakeParts,
  accountId: string,
  body: Buffer | AsyncIterable<Buffer>,
  rules: InputRules,
  signal: AbortSignal,
): Promise<HeldMedia> {
  const key = `inputs/${randomBytes(20).toString('hex')}`;
  const deleteAt = new Date(parts.clock.nowMs() + UNOWNED_KEPT_MS);
  await recordObjects(parts.db, [{ key, accountId, mimeType: '', bytes: 0, deleteAt }]);
  try {
    parts.log.trace({ key }, 'input to be stored');
    const taken = Buffer.isBuffer(body) ? body : await gathered(body, HELD_INPUT_BYTES_MAX);
    const { mimeType, bytes, seconds } = await storeMedia(parts, key, taken, {
      bytesMax: rules.bytesMax,
      kinds: rules.kinds,
      refusal: (reason) => new ApiError(reason === 'empty' ? rules.empty : rules.otherKind),
      signal,
    });
    if (rules.mimeTypes?.includes(mimeType) === false) throw new ApiError(rules.otherKind);
    parts.log.trace({ key }, 'input stored');
    return { key, mimeType, bytes, seconds, content: Buffer.isBuffer(taken) ? taken : undefined };
  } catch (error) {
    await deleteObjectsAt(parts.db, [key], parts.clock.now()).catch(() => undefined);
    throw toldToCaller(error, rules);
  }
}

function toldToCaller(error: unknown, { tooLarge, unreadable }: InputRules): unknown {
  if (error instanceof ObjectTooLarge) return new ApiError(tooLarge, { cause: error });
  if (error instanceof Unreadable) return new ApiError(unreadable, { cause: error });
  if (error instanceof StorageUnavailable) return new ApiError('job_service_unavailable', { cause: error });
  return error;
}

/** What was stored for a request that came to nothing goes at once. A caller's own files stay. */
export async function discardInputs(parts: Pick<IntakeParts, 'db' | 'clock'>, keys: readonly string[]): Promise<void> {
  const own = keys.filter((key) => key.startsWith('inputs/'));
  // If this fails, they go when their early day has come.
  await deleteObjectsAt(parts.db, own, parts.clock.now()).catch(() => undefined);
}

/** Reads what is stored whenever it is asked to; what is held, from memory the first time, and then lets go of it. */
export function readerOf(objects: ObjectStore, { key, mimeType, bytes, url }: StoredMedia, content?: Buffer) {
  let held = content;
  const open = async () => {
    if (held !== undefined) {
      const whole = [held];
      held = undefined;
      return whole;
    }
    const found = await objects.read(key);
    if (found === undefined) throw new Error(`the stored input ${key} is gone`);
    return found.body;
  };
  return {
    mimeType,
    bytes,
    url,
    read: async () => joined(await Array.fromAsync(await open())),
    pieces: async function* () {
      yield* await open();
    },
  };
}
