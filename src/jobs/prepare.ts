import { randomBytes } from 'node:crypto';
import { ApiError } from '../errors.ts';
import { deleteObjectsAt, findObject, recordObjects, storeMedia } from '../intake/index.ts';
import { CLIP_BYTES_MAX, IMAGE_BYTES_MAX, UNOWNED_KEPT_MS } from '../limits.ts';
import { type MediaKind, type Sniffed, Unreadable } from '../media/index.ts';
import type { MediaRequest, MediaSource } from '../requests/index.ts';
import { ObjectTooLarge, StorageUnavailable } from '../storage/index.ts';
import type { StoredMedia } from './job.ts';
import type { JobParts } from './parts.ts';
import { mediaOf, withMedia } from './task-work.ts';

/** A request whose media all lie in the object store. */
export interface Prepared {
  readonly request: MediaRequest<StoredMedia>;
  /** The keys of all of them. */
  readonly inputs: readonly string[];
}

/**
 * Fetches, checks and stores every picture and clip that a request names. Throws ApiError, and then what was stored for it
 * is cleaned away. Nothing is charged, and no upstream is asked.
 */
export async function prepareMedia(
  parts: JobParts,
  accountId: string,
  request: MediaRequest<MediaSource>,
  signal: AbortSignal,
): Promise<Prepared> {
  const sources = mediaOf(request);
  const settled = await Promise.allSettled(
    sources.map(({ media, kind }) => storeSource(parts, accountId, media, kind, signal)),
  );
  const stored = new Map<MediaSource, StoredMedia>();
  for (const [place, result] of settled.entries()) {
    const source = sources[place]?.media;
    if (result.status === 'fulfilled' && source !== undefined) stored.set(source, result.value);
  }
  const inputs = [...stored.values()].map(({ key }) => key);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await discardInputs(parts, inputs);
    throw failed.reason;
  }
  return { request: withMedia(request, (source) => storedAs(stored, source)), inputs };
}

function storedAs(stored: ReadonlyMap<MediaSource, StoredMedia>, source: MediaSource): StoredMedia {
  const media = stored.get(source);
  if (media === undefined) throw new Error('a picture or clip of the request was not stored');
  return media;
}

/** What was stored for a request that did not become a job goes at once. A caller's own files stay. */
export async function discardInputs(parts: JobParts, keys: readonly string[]): Promise<void> {
  const own = keys.filter((key) => key.startsWith('inputs/'));
  // If this fails, they go when their early day has come.
  await deleteObjectsAt(parts.db, own, parts.clock.now()).catch(() => undefined);
}

async function storeSource(
  parts: JobParts,
  accountId: string,
  source: MediaSource,
  kind: MediaKind,
  signal: AbortSignal,
): Promise<StoredMedia> {
  switch (source.from) {
    case 'upload':
      return { key: source.key, mimeType: source.mimeType, bytes: source.bytes };
    case 'bytes':
      return storeInput(parts, accountId, source.bytes, inlineRules(kind), signal);
    case 'url': {
      const own = await ownObject(parts, accountId, source.url, kind);
      if (own !== undefined) return own;
      const rules = fetchedRules(kind);
      const { url, body } = await parts.guardedFetch.open(source.url, { bytesMax: rules.bytesMax, signal });
      return { ...(await storeInput(parts, accountId, body, rules, signal)), url };
    }
  }
}

/** Our own links are read from the store, and only for whom they belong to; for anybody else they are like any URL. */
async function ownObject(
  { objects, db, clock }: JobParts,
  accountId: string,
  url: string,
  kind: MediaKind,
): Promise<StoredMedia | undefined> {
  const key = objects.keyOfLink(url, clock.now());
  if (key === undefined) return undefined;
  const found = await findObject(db, accountId, key, clock.now());
  if (found === undefined || !found.mimeType.startsWith(`${kind}/`)) throw new ApiError('invalid_input_url');
  return { key, ...found };
}

/** What a kind of media must be, and what the caller is told when it is not. */
export interface InputRules {
  readonly bytesMax: number;
  readonly accept: (sniffed: Sniffed | undefined, head: Buffer) => Sniffed;
  /** Turns what storing can throw into what the caller is told. */
  readonly refusal: (error: unknown) => unknown;
}

const BYTES_MAX: Readonly<Record<MediaKind, number>> = {
  image: IMAGE_BYTES_MAX,
  video: CLIP_BYTES_MAX,
  audio: CLIP_BYTES_MAX,
};

/** For what came with the request itself. */
export function inlineRules(kind: MediaKind): InputRules {
  return {
    bytesMax: BYTES_MAX[kind],
    accept: (sniffed, head) => {
      if (head.length === 0) throw new ApiError(kind === 'image' ? 'empty_image' : 'invalid_reference_audio');
      if (isOfKind(sniffed, kind)) return sniffed;
      throw new ApiError(kind === 'image' ? 'unsupported_image_format' : 'unsupported_audio_format');
    },
    refusal: (error) => {
      if (error instanceof ObjectTooLarge) return new ApiError(kind === 'image' ? 'image_too_large' : 'body_too_large');
      if (error instanceof Unreadable) return new ApiError(kind === 'image' ? 'unreadable_image' : 'invalid_reference_audio');
      return error;
    },
  };
}

/** Whatever is wrong with what a URL gave has one name. */
function fetchedRules(kind: MediaKind): InputRules {
  const wrong = () => new ApiError('invalid_input_url', { message: `What a URL gave is no usable ${kind}.` });
  return {
    bytesMax: BYTES_MAX[kind],
    accept: (sniffed) => {
      if (isOfKind(sniffed, kind)) return sniffed;
      throw wrong();
    },
    refusal: (error) => (error instanceof ObjectTooLarge || error instanceof Unreadable ? wrong() : error),
  };
}

function isOfKind(sniffed: Sniffed | undefined, kind: MediaKind): sniffed is Sniffed {
  return sniffed !== undefined && (sniffed.kind === kind || (kind === 'audio' && sniffed.kind === 'video'));
}

/** Its row comes first: whatever happens from here on, somebody knows that there may be something to clean away. */
export async function storeInput(
  parts: Pick<JobParts, 'db' | 'clock' | 'objects'>,
  accountId: string,
  body: Buffer | AsyncIterable<Buffer>,
  rules: InputRules,
  signal?: AbortSignal,
): Promise<StoredMedia> {
  const key = `inputs/${randomBytes(20).toString('hex')}`;
  const deleteAt = new Date(parts.clock.nowMs() + UNOWNED_KEPT_MS);
  await recordObjects(parts.db, [{ key, accountId, mimeType: '', bytes: 0, deleteAt }]);
  try {
    const { bytesMax, accept } = rules;
    const options = { bytesMax, accept, ...(signal === undefined ? {} : { signal }) };
    const { mimeType, bytes } = await storeMedia(parts, key, body, options);
    return { key, mimeType, bytes };
  } catch (error) {
    await deleteObjectsAt(parts.db, [key], parts.clock.now()).catch(() => undefined);
    if (error instanceof StorageUnavailable) throw new ApiError('job_service_unavailable', { cause: error });
    throw rules.refusal(error);
  }
}
