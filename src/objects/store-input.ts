import { randomBytes } from 'node:crypto';
import { ApiError, type ErrorCode } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { BUFFERED_INPUT_BYTES_MAX, UNOWNED_KEPT_MS } from '../limits.ts';
import { type MediaKind, Unreadable } from '../media/index.ts';
import { type ObjectStore, ObjectTooLarge, StorageUnavailable } from '../storage/index.ts';
import { bufferUpTo, joined } from './buffer-up-to.ts';
import type { BufferingDeps, ObjectDeps } from './deps.ts';
import type { MemorySlot } from './memory-slots.ts';
import { deleteObjectsAt, recordObjects } from './store.ts';
import { judgeMedia, type StoreRules, storeMedia } from './store-media.ts';

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
  /** Sound of a coding whose packets are not counted is of another kind, since its length is charged for. */
  readonly mustBeCounted?: true;
  readonly empty: ErrorCode;
  readonly otherKind: ErrorCode;
  readonly unreadable: ErrorCode;
  readonly tooLarge: ErrorCode;
}

/** One that is small and read soon: it never leaves this process's memory. */
export interface BufferedMedia extends Omit<StoredMedia, 'key'> {
  readonly key?: undefined;
  readonly content: Buffer;
  /** The memory slot that it uses. */
  readonly slot: MemorySlot;
}

/** Writes its row first: however this ends, the clean-up knows that there may be an object to delete. */
export async function storeInput(
  deps: ObjectDeps,
  accountId: string,
  body: Buffer | AsyncIterable<Buffer>,
  rules: InputRules,
  signal: AbortSignal,
): Promise<StoredMedia> {
  const key = `inputs/${randomBytes(20).toString('hex')}`;
  const deleteAt = new Date(deps.clock.nowMs() + UNOWNED_KEPT_MS);
  await recordObjects(deps.db, [{ key, accountId, mimeType: '', bytes: 0, deleteAt }]);
  try {
    killPoint(deps.log, 'object.input.before-store', key);
    const { bytes, mimeType, seconds } = await storeMedia(deps, key, body, mediaRules(rules, signal));
    refuseOthers(mimeType, rules);
    killPoint(deps.log, 'object.input.after-store', key);
    return { key, mimeType, bytes, seconds };
  } catch (error) {
    await deleteObjectsAt(deps.db, [key], deps.clock.now()).catch(() => undefined);
    throw callerError(error, rules);
  }
}

/** For what is read once and soon: kept in memory until releaseMemory() if it is small and a slot is free, else stored. */
export async function takeInput(
  deps: BufferingDeps,
  accountId: string,
  body: AsyncIterable<Buffer>,
  rules: InputRules,
  signal: AbortSignal,
): Promise<BufferedMedia | StoredMedia> {
  const slot = deps.memorySlots.tryAcquire();
  if (slot === undefined) return storeInput(deps, accountId, body, rules, signal);
  try {
    const content = await bufferUpTo(body, BUFFERED_INPUT_BYTES_MAX);
    if (Buffer.isBuffer(content)) return { ...(await judgedInput(content, rules, signal)), content, slot };
    slot.release();
    return await storeInput(deps, accountId, content, rules, signal);
  } catch (error) {
    slot.release();
    throw error;
  }
}

async function judgedInput(content: Buffer, rules: InputRules, signal: AbortSignal) {
  try {
    const { mimeType, seconds } = await judgeMedia(content, mediaRules(rules, signal));
    refuseOthers(mimeType, rules);
    return { mimeType, seconds, bytes: content.length };
  } catch (error) {
    throw callerError(error, rules);
  }
}

function mediaRules(rules: InputRules, signal: AbortSignal): StoreRules {
  const { bytesMax, kinds, mustBeCounted = false, empty, otherKind } = rules;
  const refusal: StoreRules['refusal'] = (reason) => new ApiError(reason === 'empty' ? empty : otherKind);
  return { bytesMax, kinds, mustBeCounted, signal, refusal };
}

function refuseOthers(mimeType: string, { mimeTypes, otherKind }: InputRules): void {
  if (mimeTypes?.includes(mimeType) === false) throw new ApiError(otherKind);
}

function callerError(error: unknown, { tooLarge, unreadable }: InputRules): unknown {
  if (error instanceof ObjectTooLarge) return new ApiError(tooLarge, { cause: error });
  if (error instanceof Unreadable) return new ApiError(unreadable, { cause: error });
  if (error instanceof StorageUnavailable) return new ApiError('job_service_unavailable', { cause: error });
  return error;
}

/** What was stored for a request that came to nothing goes at once. A caller's own files stay. */
export async function discardInputs(deps: Pick<ObjectDeps, 'db' | 'clock'>, keys: readonly string[]): Promise<void> {
  const own = keys.filter((key) => key.startsWith('inputs/'));
  // If this fails, they go when their early day has come.
  await deleteObjectsAt(deps.db, own, deps.clock.now()).catch(() => undefined);
}

/** Releases the input's memory slot, if it has one: it is not read any more. May be called more than once. */
export function releaseMemory(input: BufferedMedia | StoredMedia): void {
  if ('slot' in input) input.slot.release();
}

/** The same for a request that has failed; what is stored goes too, unless a committed record may own it. */
export async function abandonInput(
  deps: Pick<ObjectDeps, 'db' | 'clock'>,
  input: BufferedMedia | StoredMedia,
  mayBeOwned: boolean,
): Promise<void> {
  releaseMemory(input);
  if (input.key !== undefined && !mayBeOwned) await discardInputs(deps, [input.key]);
}

/** Reads what is stored whenever it is asked to. */
export function readerOf(objects: ObjectStore, { key, mimeType, bytes, url }: StoredMedia) {
  const open = async () => {
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
