import { OBJECT_KEY_CHARS_MAX } from '../limits.ts';

/** Where generated media and uploads lie. */
export interface ObjectStore {
  /** What holds the objects, as callers are told. */
  readonly kind: 's3' | 'disk';
  /**
   * Readers see all of it or nothing, and it is durable when this resolves. Repeating it under the same key replaces it.
   * Throws ObjectTooLarge beyond `bytesMax`, the signal's reason when that is aborted, and whatever the body throws;
   * then nothing of it is kept.
   */
  put(key: string, body: AsyncIterable<Buffer> | Buffer, options: PutOptions): Promise<{ bytes: number }>;
  /** Undefined when there is none. A body must be read to its end, or its loop left early, to free the connection. */
  read(key: string, range?: ByteRange): Promise<StoredObject | undefined>;
  /** Harmless when there is none. */
  remove(key: string): Promise<void>;
  /** An address that can be fetched without a credential until then. Made a second later, it is another one. */
  link(key: string, options: LinkOptions): Promise<string>;
  /** The key that one of our own links names, if it is neither expired nor tampered with. */
  keyOfLink(url: string, now: Date): string | undefined;
  close(): Promise<void>;
}

export interface PutOptions {
  readonly mimeType: string;
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
}

/** Both ends belong to it. An end beyond the object's is cut; a start beyond it gives nothing. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredObject {
  /** Of the whole object, whatever the range. */
  readonly bytes: number;
  readonly body: AsyncIterable<Buffer>;
}

export interface LinkOptions {
  readonly mimeType: string;
  /** Made by us: letters, digits, dots, dashes and underscores. */
  readonly fileName: string;
  readonly expiresAt: Date;
  readonly now: Date;
}

/** The body had more bytes than it was allowed. */
export class ObjectTooLarge extends Error {
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`the object has more than ${bytesMax} bytes`);
    this.bytesMax = bytesMax;
  }
}

/** The disk or the object store does not do its work. Its message is for the log. */
export class StorageUnavailable extends Error {}

/** What the engine throws is its being unavailable, whatever it calls it. */
export async function asUnavailable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw storageUnavailable(error);
  }
}

export function storageUnavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`stored media: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

const KEY = /^[a-z0-9_-]+(?:\/[a-z0-9_-]+)*$/;

export function isObjectKey(text: string): boolean {
  return text.length <= OBJECT_KEY_CHARS_MAX && KEY.test(text);
}

/** Keys are made by us, so a wrong one is a fault of ours and not of any caller. */
export function assertKey(key: string): void {
  if (!isObjectKey(key)) throw new Error(`not a key of a stored object: ${JSON.stringify(key)}`);
}

const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/;

export function dispositionOf(fileName: string): string {
  if (!FILE_NAME.test(fileName)) throw new Error(`not a safe file name: ${JSON.stringify(fileName)}`);
  return `inline; filename="${fileName}"`;
}
