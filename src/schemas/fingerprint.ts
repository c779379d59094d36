import { createHash, type Hash } from 'node:crypto';
import { isWrittenNumber, type JsonObject, type JsonValue } from '../json.ts';

/** What a create call sent. `json` has its numbers as written; a form is its parts in order, files by their SHA-256. */
export type SentBody =
  | { readonly json: JsonObject }
  | { readonly form: readonly (readonly [name: string, part: string | { readonly sha256: string }])[] };

/**
 * By which two requests are the same: SHA-256 in hex over method, route and content. The order of keys, white space and
 * a form's boundary make no difference; everything else does, `1.0` and `1` included.
 */
export function fingerprint(method: string, route: string, body: SentBody): string {
  const hash = createHash('sha256');
  const pending = { hash, text: `${method} ${route}\n` };
  if ('json' in body) {
    writeValue(pending, body.json);
  } else {
    for (const part of body.form) add(pending, `${JSON.stringify(part)}\n`);
  }
  return hash.update(pending.text).digest('hex');
}

/** Text on its way into the hash, handed over in pieces, so that a large body needs no second copy of itself. */
interface Pending {
  readonly hash: Hash;
  text: string;
}

const PIECE_CHARS = 16_384;

function add(pending: Pending, text: string): void {
  pending.text += text;
  if (pending.text.length < PIECE_CHARS) return;
  pending.hash.update(pending.text);
  pending.text = '';
}

/** JSON with the keys of every object in the order of their UTF-16 code units. */
function writeValue(pending: Pending, value: JsonValue): void {
  if (typeof value !== 'object' || value === null || isWrittenNumber(value)) add(pending, JSON.stringify(value));
  else if (Array.isArray(value)) writeList(pending, value);
  else writeObject(pending, value as JsonObject);
}

function writeList(pending: Pending, list: readonly JsonValue[]): void {
  // What has no keys to sort is written in one go, or a long list would be many small pieces.
  if (!list.some((item) => typeof item === 'object' && item !== null)) {
    add(pending, JSON.stringify(list));
    return;
  }
  add(pending, '[');
  for (const [index, item] of list.entries()) {
    if (index > 0) add(pending, ',');
    writeValue(pending, item);
  }
  add(pending, ']');
}

function writeObject(pending: Pending, object: JsonObject): void {
  add(pending, '{');
  for (const [index, name] of Object.keys(object).sort().entries()) {
    add(pending, `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`);
    writeValue(pending, object[name] ?? null);
  }
  add(pending, '}');
}
