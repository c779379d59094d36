import type { Recorded } from './recording-server.ts';
import type { Answer } from './scripted-server.ts';

type Json = Readonly<Record<string, unknown>>;

export function json(status: number, body: object): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The object that was sent. Undefined for anything else, and for one that was not said to be JSON. */
export function jsonIn({ headers, bytes }: Pick<Recorded, 'headers' | 'bytes'>): Json | undefined {
  return headers['content-type'] === 'application/json' ? objectIn(bytes) : undefined;
}

export function objectIn(bytes: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
