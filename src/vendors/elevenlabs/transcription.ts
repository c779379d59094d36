import type { JsonValue } from '../../json.ts';
import type { TranscriptionRequest } from '../../requests/index.ts';
import { unsupported } from '../../unsupported.ts';
import { readBytes } from '../kit/http.ts';
import { isList, isObject } from '../kit/json.ts';
import { type Part, toMultipart } from '../kit/multipart.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { AudioFile, TranscriptionWork } from '../vendor.ts';
import { refuseKeys, textOf } from './fields.ts';
import { transcriptIn } from './transcript.ts';
import { post, withQuery } from './wire.ts';

/**
 * Answered on the same line. There is no field for a prompt, and it is left out: context is a hint, and a transcript
 * without it is better than none. Who wants certain words heard gives the vendor's own `keyterms`.
 */
export const transcription: TranscriptionWork = {
  check({ extra, temperature = 0 }) {
    // The answer would go elsewhere, be of another sound than was measured, or of another shape.
    refuseKeys(extra, ['webhook', 'source_url', 'cloud_storage_url', 'file', 'use_multi_channel']);
    if (temperature < 0 || temperature > 2) throw unsupported('temperature', { from: 0, to: 2 });
  },

  async submit(request, audio, upstream) {
    const { contentType, body } = toMultipart(partsOf(request, audio, upstream.model));
    const path = withQuery('/v1/speech-to-text', { enable_logging: request.extra.enable_logging });
    const reply = await post(upstream, path, contentType, body);
    return { state: 'transcribed', transcript: transcriptIn(readTranscript(await readBytes(reply))) };
  },
};

function partsOf(request: TranscriptionRequest, file: AudioFile, model: string): Part[] {
  const { language, temperature, granularities, responseFormat } = request;
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const { enable_logging: _inQuery, ...extra } = request.extra;
  const fields: Record<string, JsonValue> = {
    ...extra,
    model_id: model,
    timestamps_granularity: needsTimes ? 'word' : 'none',
    ...(language !== undefined && { language_code: language }),
    ...(temperature !== undefined && { temperature }),
  };
  const values = Object.entries(fields).flatMap(([name, value]) => toValues(name, value));
  return [...values, { name: 'file', fileName: `audio.${file.extension}`, file }];
}

/** A list of words is the field over and over; what is nested deeper is JSON. */
function toValues(name: string, value: JsonValue): Part[] {
  if (value === null) return [];
  const isRepeated = isList(value) && !value.some((each) => isList(each) || isObject(each));
  return (isRepeated ? value : [value]).map((each) => ({ name, value: textOf(each) }));
}
