import type { JsonObject, JsonValue } from '../../json.ts';
import { isList, isObject, stringAt } from '../../json-read.ts';

/**
 * Stands as the signature of thoughts that no vendor has signed. Clients send thoughts back with the next turn, and a
 * vendor that checks signatures would refuse these.
 */
export const UNSIGNED_MARK = Buffer.from('tollgate:1:unsigned').toString('base64');

/** The same body without thoughts that the vendor has not signed; the body itself where there are none. */
export function withoutUnsigned(body: JsonObject): JsonObject {
  const turns = body.messages;
  if (!isList(turns) || !turns.some(hasUnsigned)) return body;
  const signed = turns.flatMap((turn): JsonValue[] => (hasUnsigned(turn) ? signedTurn(turn) : [turn]));
  return { ...body, messages: signed };
}

function hasUnsigned(turn: JsonValue): turn is JsonObject {
  return isObject(turn) && turn.role === 'assistant' && isList(turn.content) && turn.content.some(isUnsigned);
}

function isUnsigned(block: JsonValue): boolean {
  if (!isObject(block) || block.type !== 'thinking') return false;
  const signature = stringAt(block, 'signature') ?? '';
  return signature === '' || signature === UNSIGNED_MARK;
}

/** A turn of nothing else is left out: the vendor refuses one without blocks. */
function signedTurn(turn: JsonObject): JsonObject[] {
  const content = isList(turn.content) ? turn.content.filter((block) => !isUnsigned(block)) : [];
  return content.length === 0 ? [] : [{ ...turn, content }];
}
