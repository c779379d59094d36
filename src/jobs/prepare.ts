import { ApiError } from '../errors.ts';
import { CLIP_BYTES_MAX, IMAGE_BYTES_MAX } from '../limits.ts';
import type { MediaKind } from '../media/index.ts';
import { discardInputs, type InputRules, linkedObject, type StoredMedia, storeInput } from '../objects/index.ts';
import { atField } from '../parse.ts';
import { type MediaRequest, type MediaSource, slots } from '../schemas/index.ts';
import type { JobDeps } from './deps.ts';

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
  deps: JobDeps,
  accountId: string,
  request: MediaRequest<MediaSource>,
  signal: AbortSignal,
): Promise<Prepared> {
  const named = slots.list(request);
  const settled = await Promise.allSettled(
    named.map(async ({ media, kind, path }) => {
      try {
        return await storeSource(deps, accountId, media, kind, signal);
      } catch (error) {
        throw atField(error, (media.from === 'bytes' && media.field) || path);
      }
    }),
  );
  const stored = new Map<MediaSource, StoredMedia>();
  for (const [place, result] of settled.entries()) {
    const source = named[place]?.media;
    if (result.status === 'fulfilled' && source !== undefined) stored.set(source, result.value);
  }
  const inputs = [...stored.values()].map(({ key }) => key);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await discardInputs(deps, inputs);
    throw failed.reason;
  }
  return { request: slots.map(request, (source) => storedAs(stored, source)), inputs };
}

function storedAs(stored: ReadonlyMap<MediaSource, StoredMedia>, source: MediaSource): StoredMedia {
  const media = stored.get(source);
  if (media === undefined) throw new Error('a picture or clip of the request was not stored');
  return media;
}

async function storeSource(
  deps: JobDeps,
  accountId: string,
  source: MediaSource,
  kind: MediaKind,
  signal: AbortSignal,
): Promise<StoredMedia> {
  switch (source.from) {
    case 'upload':
      return { key: source.key, mimeType: source.mimeType, bytes: source.bytes };
    case 'bytes':
      return storeInput(deps, accountId, source.bytes, inlineRules(kind), signal);
    case 'url': {
      const own = await ownObject(deps, accountId, source.url, kind);
      if (own !== undefined) return own;
      const rules = fetchedRules(kind);
      const { url, body } = await deps.guardedFetch.open(source.url, { bytesMax: bytesMaxOf(kind), signal });
      return { ...(await storeInput(deps, accountId, body, rules, signal)), url };
    }
  }
}

async function ownObject(
  deps: JobDeps,
  accountId: string,
  url: string,
  kind: MediaKind,
): Promise<StoredMedia | undefined> {
  const found = await linkedObject(deps, accountId, url);
  if (found === undefined) return undefined;
  const isTaken = found.mimeType.startsWith(`${kind}/`) && found.bytes <= bytesMaxOf(kind);
  if (!isTaken) throw new ApiError('invalid_input_url');
  return found;
}

const PICTURE: InputRules = {
  kinds: ['image'],
  bytesMax: IMAGE_BYTES_MAX,
  empty: 'empty_image',
  otherKind: 'unsupported_image_format',
  unreadable: 'unreadable_image',
  tooLarge: 'image_too_large',
};

const SOUND: InputRules = {
  kinds: ['audio'],
  bytesMax: CLIP_BYTES_MAX,
  // What a sample may be declared as is also all that it may be.
  mimeTypes: ['audio/mpeg', 'audio/wav'],
  empty: 'invalid_reference_audio',
  otherKind: 'unsupported_audio_format',
  unreadable: 'invalid_reference_audio',
  tooLarge: 'voice_sample_too_large',
};

/** For what came with the request itself. Clips are only ever named by URL. */
export function inlineRules(kind: MediaKind): InputRules {
  return kind === 'audio' ? SOUND : PICTURE;
}

/** Whatever is wrong with what a URL gave has one name. */
function fetchedRules(kind: MediaKind): InputRules {
  const code = 'invalid_input_url';
  return { kinds: [kind], bytesMax: bytesMaxOf(kind), empty: code, otherKind: code, unreadable: code, tooLarge: code };
}

function bytesMaxOf(kind: MediaKind): number {
  return kind === 'image' ? IMAGE_BYTES_MAX : CLIP_BYTES_MAX;
}
