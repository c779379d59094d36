import { ApiError } from '../../errors.ts';
import { JsonError, type MarkedJson, parseMarked, unmark } from '../../json.ts';
import { scanJson } from '../../json-scan.ts';
import { nativeTokensOf } from '../../schemas/index.ts';

/** `native` is passed on as the bytes that it is, so that of its value only the tokens are wanted. */
export type JsonKind = 'json' | 'native';

const DECODERS = {
  json: new TextDecoder('utf-8', { fatal: true }),
  // A byte order mark would be passed on with the rest, and upstreams refuse it.
  native: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }),
};

/**
 * The value of a body, which must be a JSON object, or its tokens as `NativeTokens`. Undefined if it has more values than
 * `inlineMax`. Throws `invalid_json`, of a native body `bad_request_body`; so also for more values than `valuesMax`.
 */
export function parseBody(
  kind: JsonKind,
  body: Uint8Array,
  valuesMax: number | undefined,
  inlineMax = Infinity,
): MarkedJson | undefined {
  try {
    const text = decodeBody(kind, body);
    const scan = scanJson(text, valuesMax);
    if (scan.values > inlineMax) return undefined;
    const json = parseMarked(text, scan);
    if (typeof json.tree !== 'object' || json.tree === null || Array.isArray(json.tree)) {
      throw new JsonError('The body is not a JSON object.');
    }
    return kind === 'json' ? json : { tree: nativeTokensOf(unmark(json).value), written: [] };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (kind === 'native') throw new ApiError('bad_request_body', { cause: error });
    throw new ApiError('invalid_json', { message: error.message, cause: error });
  }
}

function decodeBody(kind: JsonKind, body: Uint8Array): string {
  try {
    return DECODERS[kind].decode(body);
  } catch (error) {
    throw new JsonError('The body is not valid UTF-8.', { cause: error });
  }
}
