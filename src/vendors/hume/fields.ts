import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';

export const TEXT_CHARS_MAX = 5000;
/** The vendor makes sound of no other. */
export const SAMPLE_RATE = 48_000;

/** Of a model such as `octave-2`; undefined for one that is unknown. */
export function versionOf(model: string): string | undefined {
  return /^octave-([12])$/.exec(model)?.[1];
}

/** Throws ApiError for what the vendor does not make. */
export function formatFor({ format = 'mp3', sampleRate }: SoundRequest<Media>, formats: readonly string[]): JsonObject {
  if (!formats.includes(format)) throw unsupported('response_format', { oneOf: formats });
  if (sampleRate !== undefined && sampleRate !== SAMPLE_RATE)
    throw unsupported('sample_rate', { oneOf: [SAMPLE_RATE] });
  return { type: format };
}

/** The first are decided by public fields; the others change the shape of the answer, or what of it is charged for. */
const REFUSED_KEYS = [
  ...['utterances', 'version', 'num_generations'],
  ...['instant_mode', 'strip_headers', 'include_timestamp_types', 'split_utterances'],
];

export function refuseExtra(extra: JsonObject): void {
  refuseKeys(extra, REFUSED_KEYS);
}
