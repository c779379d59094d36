import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../errors.ts';
import { JsonError, parseJson } from '../../json.ts';
import { type NativeTokens, nativeTokensOf } from '../../schemas/index.ts';

/** Reads the bytes of a native body, which must be a JSON object; they themselves are not changed. */
export function readNative(body: Buffer): NativeTokens {
  if (!isUtf8(body)) throw new ApiError('bad_request_body');
  try {
    const { value } = parseJson(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return nativeTokensOf(value);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new ApiError('bad_request_body');
}
