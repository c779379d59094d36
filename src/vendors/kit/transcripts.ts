import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { TRANSCRIPT_VALUES_MAX } from '../../limits.ts';
import { parseObject } from './http.ts';

/** What servers answer in place of a transcript when they have heard nothing. */
const NOTHING = /^\s*(null|"")?\s*$/;

/**
 * The answer to a transcription as a JSON object. One that says nothing at all is an empty object: it has no text, and
 * that is what its caller is told. Undefined for what is no JSON object; throws UpstreamError for one out of bounds.
 */
export function parseTranscript(text: string): JsonObject | undefined {
  return NOTHING.test(text) ? {} : parseObject(text, TRANSCRIPT_VALUES_MAX);
}

/** The same for vendors that answer with JSON only. */
export function readTranscript(bytes: Buffer): JsonObject {
  const value = parseTranscript(bytes.toString('utf8'));
  if (value === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
  return value;
}
