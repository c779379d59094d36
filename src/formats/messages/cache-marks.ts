import type { JsonObject, JsonValue } from '../../json.ts';
import { isList, isObject } from '../../json-read.ts';

/** Whether some of the prompt has a cache mark: the upstream writes it to its cache, which may cost more than plain input. */
export function hasCacheMark(request: JsonObject): boolean {
  return hasMark(request) || [request.system, request.tools, request.messages].some(holdsMark);
}

function holdsMark(value: JsonValue | undefined): boolean {
  if (isList(value)) return value.some(holdsMark);
  if (!isObject(value)) return false;
  // Blocks may lie in a message, and in the content of a tool's result.
  return hasMark(value) || holdsMark(value.content);
}

function hasMark({ cache_control }: JsonObject): boolean {
  return cache_control !== undefined && cache_control !== null;
}
