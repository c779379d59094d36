import { ApiError } from '../errors.ts';
import { TRANSCRIPTION_FILE_BYTES_MAX } from '../limits.ts';
import {
  type BufferedMedia,
  findObjects,
  type InputRules,
  readerOf,
  type StoredMedia,
  takeInput,
} from '../objects/index.ts';
import { atField } from '../parse.ts';
import { type AudioFile, inMemoryMedia } from '../vendors/index.ts';
import type { TranscriptionDeps } from './deps.ts';

/** What is taken, and what its files are usually called. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/flac', 'flac'],
  ['audio/ogg', 'ogg'],
  ['audio/mpeg', 'mp3'],
  ['audio/aac', 'aac'],
  ['audio/mp4', 'm4a'],
  ['video/mp4', 'mp4'],
  ['audio/webm', 'webm'],
  ['video/webm', 'webm'],
]);

/** For a clip that comes with the request, or behind its URL. Pictures beside the sound do no harm. */
export const CLIP_RULES: InputRules = {
  kinds: ['audio', 'video'],
  bytesMax: TRANSCRIPTION_FILE_BYTES_MAX,
  mimeTypes: [...EXTENSIONS.keys()],
  mustBeCounted: true,
  empty: 'empty_file',
  otherKind: 'unsupported_audio_format',
  unreadable: 'unreadable_file',
  tooLarge: 'file_too_large',
};

/** Brings what a URL names into the store. Throws ApiError, and then it is not there. */
export async function fetchClip(
  deps: TranscriptionDeps,
  accountId: string,
  url: string,
  signal: AbortSignal,
): Promise<BufferedMedia | StoredMedia> {
  try {
    const own = await ownClip(deps, accountId, url);
    const body = own ?? (await deps.guardedFetch.open(url, { bytesMax: CLIP_RULES.bytesMax, signal })).body;
    return await takeInput(deps, accountId, body, CLIP_RULES, signal);
  } catch (error) {
    throw atField(error, 'url');
  }
}

/** Our own links are read from the store, and only for the account that owns them; for another they are like any URL. */
async function ownClip(
  { objects, db, clock }: TranscriptionDeps,
  accountId: string,
  url: string,
): Promise<AsyncIterable<Buffer> | undefined> {
  const key = objects.keyOfLink(url, clock.now());
  if (key === undefined) return undefined;
  const known = (await findObjects(db, accountId, [key], clock.now())).get(key);
  const found = known !== undefined && known.bytes > 0 ? await objects.read(key) : undefined;
  if (found === undefined) throw new ApiError('invalid_input_url');
  return found.body;
}

/**
 * The clip as a vendor is given it. Its URL is not passed on: what was measured is what is transcribed, whatever stands
 * at that address by then.
 */
export function audioFileOf({ objects }: TranscriptionDeps, clip: BufferedMedia | StoredMedia): AudioFile {
  const { url: _, ...media } = clip;
  return {
    ...('content' in media ? inMemoryMedia(media.content, media.mimeType) : readerOf(objects, media)),
    extension: EXTENSIONS.get(clip.mimeType) ?? '',
    seconds: secondsOf(clip),
  };
}

export function secondsOf({ seconds }: BufferedMedia | StoredMedia): number {
  if (seconds === undefined) throw new Error('a clip was not measured');
  return seconds;
}
