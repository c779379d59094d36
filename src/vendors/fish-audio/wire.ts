import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are `{status, message}`, with a `code` from the newest model for recordings alone; a list where validation failed. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }),
  faults: {
    exception: faultInWords,
    codesIn: (body) => [stringAt(body, 'code')],
    codes: {
      client: ['invalid_request', 'invalid_parameter', 'invalid_audio', 'audio_too_short'],
      unfit: ['audio_too_long', 'request_too_large', 'unsupported_media_type'],
      server: ['upstream_unavailable', 'upstream_timeout', 'excessive_repetition', 'diarization_failed'],
    },
    patterns: [[/moderation|policy/, 'policy']],
  },
});

/** Most of its errors have no name. The words are the vendor's own; it does not repeat the text. */
function faultInWords(body: JsonObject, status: number | undefined): Fault | undefined {
  const words = stringAt(body, 'message') ?? '';
  if (status === undefined || status >= 500) return undefined;
  if (/(insufficient|not enough|no|out of)( \w+)? (credit|balance|fund|quota)/i.test(words)) return 'account';
  if (/moderation|content policy|inappropriate/i.test(words)) return 'policy';
  // The caller chose the voice, and is not to shut the route for others by it.
  return status === 404 && /\b(reference|voice|model)\b/i.test(words) ? 'client' : undefined;
}

/** The model stands in a header. One that the vendor does not know would be another, at another price, and no error. */
export function refuseModel(model: string, known: RegExp): void {
  if (!known.test(model)) throw unsupported('model', 'another value');
}
