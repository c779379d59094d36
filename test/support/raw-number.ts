import { parseJson } from '../../src/json.ts';

/** A number as a caller wrote it, which a double would not keep. */
export function rawNumber(text: string): unknown {
  return parseJson(text).exact();
}
