import type { JsonObject, JsonValue } from '../json.ts';
import type { MediaRequest } from './media-requests.ts';
import * as slots from './media-slots.ts';

/** Names on the wire that are not the member's own in another case. */
const WIRE_NAMES: Readonly<Record<string, string>> = { format: 'response_format' };

/** What a body that leaves them out gets. */
const DEFAULTS: Readonly<Record<string, JsonValue>> = { n: 1, output: 'binary' };

/**
 * The JSON body that becomes this request again, with a URL for each picture and clip. What `urlOf` has none for is left
 * out, and so is what a body need not say.
 */
export function toWireBody<Media>(
  request: MediaRequest<Media>,
  urlOf: (media: Media) => string | undefined,
): JsonObject {
  const { kind, extra, ...members } = slots.map(request, urlOf);
  const fields = Object.entries<JsonValue | readonly (string | undefined)[] | undefined>(members).flatMap(
    ([key, value]) => {
      const shown = Array.isArray(value) ? value.filter((item) => item !== undefined) : value;
      const isUnsaid = shown === undefined || (Array.isArray(shown) && shown.length === 0) || shown === DEFAULTS[key];
      return isUnsaid ? [] : [[slots.fieldOf(kind, key) ?? wireName(key), shown] as const];
    },
  );
  return { ...Object.fromEntries(fields), ...extra } as JsonObject;
}

function wireName(key: string): string {
  return WIRE_NAMES[key] ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
