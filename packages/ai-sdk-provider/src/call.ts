import { APICallError, type JSONObject } from '@ai-sdk/provider';
import { type CallOptions, type MediaInput, TollgateError } from '@tollgate/client';

/** Under this name stand options and metadata. */
export const NAME = 'tollgate';

/** What every call of the AI SDK may have. */
interface SdkOptions {
  readonly abortSignal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

type SdkFields = Readonly<Record<string, JSONObject>>;

export function callOptions({ abortSignal, headers }: SdkOptions): CallOptions {
  return { signal: abortSignal, headers };
}

/** The fields of the request itself, which win over what the AI SDK has names for. */
export function ownFields(providerOptions: SdkFields | undefined): JSONObject {
  return providerOptions?.[NAME] ?? {};
}

/**
 * Runs a call of the client library, and tells its failures as the AI SDK tells those of any other. The client has tried
 * again where that was safe; a second layer of retries would make a second job.
 */
export async function answered<Answer>(path: string, request: unknown, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (cause) {
    if (!(cause instanceof TollgateError)) throw cause;
    const { message, status, code, requestId } = cause;
    throw new APICallError({
      message,
      url: path,
      requestBodyValues: request,
      ...(status !== undefined && { statusCode: status }),
      isRetryable: false,
      data: { code, requestId },
      cause,
    });
  }
}

/** What the AI SDK wants to know of every answer. */
export function responseOf(modelId: string, timestamp = new Date()) {
  return { timestamp, modelId, headers: {} };
}

/** A file as the AI SDK has them. */
type SdkFile =
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string | Uint8Array }
  | { readonly type: 'url'; readonly url: string };

export function mediaInput(file: SdkFile): MediaInput {
  if (file.type === 'url') return file.url;
  return { b64: typeof file.data === 'string' ? file.data : base64Of(file.data), mime_type: file.mediaType };
}

const PIECE_BYTES = 8192;

/** In pieces: the arguments of one call are limited. */
function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  }
  return btoa(text);
}

export function bytesOfBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
